// HTML from the server: it is escaped there, and marked as trusted only here.

interface Policy {
  createHTML(text: string): string;
}
interface Types {
  createPolicy(name: string, rules: { createHTML(text: string): string }): Policy;
}

const types = (globalThis as { trustedTypes?: Types }).trustedTypes;
const policy: Policy = types?.createPolicy("ramus", { createHTML: (text) => text }) ?? { createHTML: (text) => text };

/** Properties of an element that contains HTML from the server. */
export const markup = (html: string) => ({ dangerouslySetInnerHTML: { __html: policy.createHTML(html) } });

export function Html({ html, class: name = "prose" }: { html: string; class?: string }) {
  return <div class={name} {...markup(html)} />;
}

/** Buttons inside such HTML: copy code, copy an address that does not lead to the web. */
export function copied(event: Event, say: (text: string) => void): void {
  const target = event.target as HTMLElement;
  const button = target.closest<HTMLElement>("button.copy, .link[data-address]");
  if (!button) return;
  const isCode = button.classList.contains("copy");
  const text = isCode
    ? (button.closest(".code")?.querySelector("code")?.textContent ?? "")
    : (button.dataset.address ?? "");
  event.preventDefault();
  void navigator.clipboard?.writeText(text).then(
    () => say(isCode ? "Code copied" : `Address copied: ${text.slice(0, 80)}`),
    () => say("The browser does not allow copying"),
  );
}
