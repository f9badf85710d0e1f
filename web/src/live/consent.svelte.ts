// What a person typed to agree that the data of a card are lost. It counts for the card that was shown: another one in the same slot
// is another question.

import type { Device } from '../api/types';

export class TypedConsent {
  typed = $state('');
  /** The card was changed since this target was chosen. */
  changed = $state(false);

  /** To be made while a component is set up. `question` is anything whose change needs a new consent. */
  constructor(question: () => string, device: () => Device | null) {
    let asked = '';
    let object = '';
    $effect.pre(() => {
      const [nowAsked, nowObject] = [question(), device()?.object ?? ''];
      if (nowAsked === asked && nowObject === object) return;
      this.typed = '';
      // A list that has just arrived changes nothing.
      this.changed = nowAsked === asked && (this.changed || object !== '');
      [asked, object] = [nowAsked, nowObject];
    });
  }
}
