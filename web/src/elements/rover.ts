// A list of buttons that Tab reaches as one: the arrow keys move between its buttons.

import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** Rover makes one of the buttons that a selector matches reachable by Tab: the latest one in focus, or else the preferred one. */
export class Rover implements ReactiveController {
  constructor(
    private readonly host: ReactiveControllerHost & { renderRoot: HTMLElement | DocumentFragment },
    private readonly buttons: string,
    private readonly preferred: string,
  ) {
    host.addController(this);
  }

  private get list(): HTMLElement[] {
    return [...this.host.renderRoot.querySelectorAll<HTMLElement>(this.buttons)];
  }

  /** hostUpdated keeps exactly one button reachable by Tab. */
  hostUpdated(): void {
    const list = this.list;
    const root = this.host.renderRoot as ShadowRoot;
    const inFocus = list.find((b) => b === root.activeElement);
    this.choose(list, inFocus ?? root.querySelector<HTMLElement>(this.preferred) ?? list.find((b) => b.tabIndex === 0) ?? list[0]);
  }

  private choose(list: HTMLElement[], one: HTMLElement | undefined): void {
    for (const b of list) b.tabIndex = b === one ? 0 : -1;
  }

  /** focused is the handler of focusin. */
  readonly focused = (e: Event): void => {
    const list = this.list;
    if (list.includes(e.target as HTMLElement)) this.choose(list, e.target as HTMLElement);
  };

  /** key is the handler of keydown: up and down move the focus. */
  readonly key = (e: KeyboardEvent): void => {
    const d = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    const list = this.list;
    const at = list.indexOf(e.target as HTMLElement);
    if (!d || at < 0 || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    e.stopPropagation();
    list[at + d]?.focus();
  };
}
