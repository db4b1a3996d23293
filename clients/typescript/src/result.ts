import type { Error as ApiError } from './types.ts';

/** What went wrong, as the API says it; `UNREACHABLE` and `INTERRUPTED` come from the client itself. */
export interface Failure {
  code: ApiError['code'] | 'UNREACHABLE' | 'INTERRUPTED';
  message: string;
  /** The next action to take. */
  hint: string;
  /** Whether the same request may succeed when sent again. */
  retryable: boolean;
  /** The tail of the build or application log. */
  log_tail?: string;
}

/** Errors are values: `if (!result.ok) console.error(result.error.hint)`. */
export type Result<T> =
  | { ok: true; data: T; status: number }
  | { ok: false; error: Failure; status: number | undefined };

export const failed = (error: Failure, status?: number): { ok: false; error: Failure; status: number | undefined } => ({
  ok: false,
  error,
  status,
});

export const unreachable = (origin: string, thrown: unknown): Failure => ({
  code: 'UNREACHABLE',
  message: `${origin} cannot be reached: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
  hint: 'check the address, and whether the server runs',
  retryable: true,
});

export const interrupted = (): Failure => ({
  code: 'INTERRUPTED',
  message: 'interrupted by the caller',
  hint: 'what was begun on the server goes on there',
  retryable: true,
});

/** The error object of a refused reply, or a word about what else answered. */
export const failureOf = async (response: Response): Promise<Failure> => {
  const body: unknown = await response.json().catch(() => undefined);
  if (isFailure(body)) return body;
  return {
    code: 'UNREACHABLE',
    message: `${new URL(response.url).origin} answered ${response.status}, but not as berth does`,
    hint: 'check the address: a proxy or another program seems to answer there',
    retryable: [429, 502, 503, 504].includes(response.status),
  };
};

const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' &&
  value !== null &&
  'code' in value &&
  'message' in value &&
  'hint' in value &&
  'retryable' in value;
