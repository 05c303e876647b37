/** Prints the tables of the police as JSON, from the sources: settings, texts and commands. */

import { complete } from "../../police/command.ts";
import { NUMBER_KEYS, PROFILES, TEXT_KEYS } from "../../police/config/keys.ts";
import { rangeOf } from "../../police/config/values.ts";
import { MESSAGE_DEFAULTS, USER_WORDS } from "../../police/messages.ts";

const numbers = Object.entries(NUMBER_KEYS).map(([key, rule]) => ({
  key,
  default: rule.default,
  range: rangeOf(rule),
  about: rule.about,
}));
const texts = Object.entries(TEXT_KEYS).map(([key, { default: value, about }]) => ({
  key,
  default: value,
  about,
}));
const commands = complete("").map(({ label, description }) => ({ label, description }));

process.stdout.write(
  JSON.stringify({
    numbers,
    texts,
    commands,
    profiles: PROFILES,
    messages: MESSAGE_DEFAULTS,
    events: USER_WORDS,
  }),
);
