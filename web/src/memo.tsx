// A component that is not drawn again while its properties are the same.
//
// `preact/compat` has one, too, and would bring ten kilobytes along that the page does not need.

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
