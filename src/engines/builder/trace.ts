import { plainText, withoutColours } from '#kernel/terminal';
import type { BuildLogLine } from './port.ts';
import type { StatusResponse, Timestamp, Vertex } from './proto.ts';
import { stepLabel, stepName } from './step-names.ts';
import { createLineSplitter, type LineSplitter } from './trace-lines.ts';

/** Lines that are kept of each step: more than an error shows, because much of it may say nothing. */
const TAIL_LINES = 200;

export interface FailedStep {
  step: string;
  error: string;
  tail: string[];
}

/** Follows a build's progress and tells it as lines. */
export interface Trace {
  add(status: StatusResponse): void;
  /** Gives out unfinished lines. */
  end(): void;
  /** The step that made the build fail, not those that were stopped because of it. */
  failed(): FailedStep | undefined;
  /** The last lines of the build, whatever their step. */
  tail(): string[];
}

export const createTrace = (onLog: (line: BuildLogLine) => void): Trace => {
  const steps = new Map<string, Step>();
  const tail: string[] = [];

  const say: Say = (line) => {
    keepLast(tail, withoutColours(line.line));
    onLog(line);
  };
  const stepOf = (digest: string): Step => {
    const known = steps.get(digest);
    if (known !== undefined) return known;
    const made = new Step(say);
    steps.set(digest, made);
    return made;
  };

  return {
    add: ({ vertexes, logs, warnings }) => {
      const pending = Map.groupBy(logs, ({ vertex }) => vertex);
      const speak = (digest: string): void => {
        for (const { stream, msg } of pending.get(digest) ?? []) stepOf(digest).output(stream, msg);
        pending.delete(digest);
      };
      for (const vertex of vertexes) {
        const step = stepOf(vertex.digest);
        step.start(vertex);
        // The last words of a step come in the same message as its end.
        speak(vertex.digest);
        step.finish(vertex);
      }
      for (const digest of pending.keys()) speak(digest);
      for (const { short } of warnings)
        say({ step: '', line: `warning: ${plainText(new TextDecoder().decode(short))}` });
    },
    end: () => {
      for (const step of steps.values()) step.flush();
    },
    failed: () => [...steps.values()].findLast((step) => step.isCause())?.failure(),
    tail: () => [...tail],
  };
};

type Say = (line: BuildLogLine) => void;

class Step {
  readonly #give: Say;
  readonly #streams = new Map<number, LineSplitter>();
  readonly #tail: string[] = [];
  #vertex = '';
  #name = '';
  #error = '';
  #announced = false;
  #ended = false;

  constructor(give: Say) {
    this.#give = give;
  }

  start({ name, started, cached }: Vertex): void {
    if (name !== '' && name !== this.#vertex) {
      this.#vertex = name;
      this.#name = stepName(name);
    }
    if (this.#announced || !isShown(this.#name) || (started === null && !cached)) return;
    this.#announced = true;
    this.#say(this.#name);
  }

  output(stream: number, msg: Uint8Array): void {
    let splitter = this.#streams.get(stream);
    if (splitter === undefined) {
      splitter = createLineSplitter((line) => {
        keepLast(this.#tail, withoutColours(line));
        this.#say(line);
      });
      this.#streams.set(stream, splitter);
    }
    splitter.push(msg);
  }

  finish({ started, completed, cached, error }: Vertex): void {
    if (error !== '') this.#error = error;
    if (completed === null && !cached) return;
    this.flush();
    if (this.#ended || !this.#announced) return;
    this.#ended = true;
    if (cached) this.#sayEnd('CACHED');
    else if (isCancelled(error)) this.#sayEnd('stopped');
    else if (error !== '') this.#sayEnd(failureText(error));
    else if (started !== null && completed !== null) this.#sayEnd(`done in ${secondsBetween(started, completed)}s`);
  }

  flush(): void {
    for (const splitter of this.#streams.values()) splitter.end();
    this.#streams.clear();
  }

  isCause(): boolean {
    return this.#error !== '' && !isCancelled(this.#error);
  }

  failure(): FailedStep {
    return { step: this.#name, error: this.#error, tail: [...this.#tail] };
  }

  #say(line: string): void {
    this.#give({ step: this.#name, line });
  }

  #sayEnd(text: string): void {
    this.#say(`${stepLabel(this.#name)} ${text}`);
  }
}

// The builder's own preparations are of no interest unless they fail.
const isShown = (name: string): boolean => (name.startsWith('[') && !name.startsWith('[internal]')) || name === EXPORT;

const EXPORT = 'exporting to image';

const isCancelled = (error: string): boolean => /context canceled|^cancell?ed/.test(error);

const failureText = (error: string): string => {
  const code = /exit code: (\d+)/.exec(error)?.[1];
  return code === undefined ? `failed: ${error}` : `failed with exit code ${code}`;
};

const keepLast = (lines: string[], line: string): void => {
  lines.push(line);
  if (lines.length > TAIL_LINES) lines.shift();
};

const secondsBetween = (from: Timestamp, to: Timestamp): string =>
  Math.max(0, to.seconds - from.seconds + (to.nanos - from.nanos) / 1e9).toFixed(1);
