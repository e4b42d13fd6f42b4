// A short message at the bottom, with a button if it can be undone.

import { useCallback, useRef, useState } from "preact/hooks";

export interface ToastAction {
  label: string;
  act: () => void;
}
export type Say = (text: string, action?: ToastAction) => void;

/** How long a message stays; longer with a button. */
const SHORT = 4000;
const LONG = 12_000;

export function useToast(): [preact.JSX.Element, Say] {
  const [toast, setToast] = useState<{ text: string; action?: ToastAction }>({ text: "" });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const say = useCallback<Say>((text, action) => {
    clearTimeout(timer.current);
    setToast({ text, action });
    timer.current = setTimeout(() => setToast({ text: "" }), action ? LONG : SHORT);
  }, []);
  const { text, action } = toast;
  const drawn = (
    <div class="toast" role="status" aria-live="polite">
      {text && <span>{text}</span>}
      {action && (
        <button
          type="button"
          onClick={() => {
            setToast({ text: "" });
            action.act();
          }}
        >
          {action.label}
        </button>
      )}
    </div>
  );
  return [drawn, say];
}
