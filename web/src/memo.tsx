// A component that is rendered again only when its properties change.
//
// `preact/compat` has one too, but adds ten kilobytes that nothing else here needs.

import { Component, type FunctionComponent } from "preact";

export function memo<P extends object>(Drawn: FunctionComponent<P>) {
  return class extends Component<P> {
    shouldComponentUpdate(next: P) {
      const names = Object.keys({ ...this.props, ...next }) as (keyof P)[];
      return names.some((name) => this.props[name as keyof typeof this.props] !== next[name]);
    }

    render(props: P) {
      return <Drawn {...props} />;
    }
  };
}
