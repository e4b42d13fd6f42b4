// A picture of a message: small, and enlarged.

import { useEffect, useState } from "preact/hooks";
import { type Piece, type View, picture, query } from "./api";
import { Icon } from "./icons";
import { Dialog } from "./parts";
import type { Where } from "./turn";

export function Picture({ piece, view, where }: { piece: Piece & { t: "picture" }; view: View; where: Where }) {
  const [src, setSrc] = useState("");
  const [broken, setBroken] = useState(false);
  const [large, setLarge] = useState(false);
  const path = piece.shown
    ? `sessions/${encodeURIComponent(where.session)}/picture${query({ leaf: where.leaf, at: view.at, i: view.i, n: piece.n })}`
    : "";
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    let made = "";
    setBroken(false);
    picture(path, stop.signal).then(
      (address) => {
        made = address;
        if (stop.signal.aborted) URL.revokeObjectURL(made);
        else setSrc(made);
      },
      () => {
        if (!stop.signal.aborted) setBroken(true);
      },
    );
    return () => {
      stop.abort();
      URL.revokeObjectURL(made);
    };
  }, [path]);
  if (broken)
    return (
      <p class="note picture-broken">
        <Icon name="imageOff" /> {piece.name}: this picture cannot be shown
      </p>
    );
  if (!src)
    return (
      <p class="note">
        <Icon name="image" /> {piece.name}
      </p>
    );
  return (
    <p class="picture">
      <button type="button" class="enlarge" aria-label={`Enlarge ${piece.name}`} onClick={() => setLarge(true)}>
        <img src={src} alt={piece.name} decoding="async" onError={() => setBroken(true)} />
      </button>
      {large && (
        <Dialog title={piece.name} full onClose={() => setLarge(false)}>
          <img class="large-picture" src={src} alt={piece.name} />
        </Dialog>
      )}
    </p>
  );
}
