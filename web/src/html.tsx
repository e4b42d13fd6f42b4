// HTML of the server: escaped there, marked as trusted here, and nowhere else.

interface Policy {
  createHTML(text: string): string;
}
interface Types {
  createPolicy(name: string, rules: { createHTML(text: string): string }): Policy;
}

const types = (globalThis as { trustedTypes?: Types }).trustedTypes;
const policy: Policy = types?.createPolicy("ramus", { createHTML: (text) => text }) ?? { createHTML: (text) => text };

export function Html({ html, class: name = "prose" }: { html: string; class?: string }) {
  return <div class={name} dangerouslySetInnerHTML={{ __html: policy.createHTML(html) }} />;
}

/** Buttons inside such HTML: copy code, copy an address. They never lead anywhere. */
export function copied(event: Event, say: (text: string) => void): void {
  const target = event.target as HTMLElement;
  const button = target.closest<HTMLElement>("button.copy, .link");
  if (!button) return;
  const isCode = button.classList.contains("copy");
  const text = isCode
    ? (button.closest(".code")?.querySelector("code")?.textContent ?? "")
    : (button.dataset.address ?? "");
  event.preventDefault();
  void navigator.clipboard?.writeText(text).then(
    () => say(isCode ? "Code copied" : `Address copied: ${text.slice(0, 80)}`),
    () => say("The browser does not let this page copy"),
  );
}
