import { invalidInput } from '#kernel/errors';
import { type PlanContext, noStartCommand } from '../provider.ts';

interface Question {
  /** What holds the programs: `this CMake project`. */
  where: string;
  /** What one of them is called: `executable target`. */
  what: string;
  /** The one that the manifest itself points at, when it does, and why. */
  own?: { name: string; reason: string } | undefined;
  /** What is said when there is none: where it was looked for, and what to add. */
  none: { title: string; tried: string; ways: string };
}

/** Programs are named after what people write, and reach commands: nothing but plain names may pass. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

/** The program to build: the only one, the one with the name of the service, or the manifest's own. */
export const chooseProgram = (context: PlanContext, names: readonly string[], question: Question): string => {
  const { notes, serviceName } = context;
  const { where, what, own, none } = question;
  const valid = [...new Set(names)].filter((name) => PLAIN.test(name));
  const reasons: [string | undefined, string][] = [
    [valid.length === 1 ? valid[0] : undefined, 'the only one'],
    [valid.find((name) => name === serviceName), 'it has the name of the service'],
    [valid.find((name) => name === own?.name), own?.reason ?? ''],
  ];
  for (const [name, reason] of reasons) {
    if (name === undefined) continue;
    notes.decisions.push(`${what} ${name}: ${reason}`);
    return name;
  }
  if (valid.length === 0) throw noStartCommand(none.title, none.tried, none.ways);
  const list = valid.slice(0, 20).join(', ');
  throw invalidInput(
    `${where} has several ${what}s: ${list}`,
    'name the service after one of them, or set build and start in the [build] table of berth.toml',
  );
};
