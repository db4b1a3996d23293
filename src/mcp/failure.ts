import type { ErrorBody } from '#kernel/errors';
import { BerthError, toBerthError } from '#kernel/errors';
import { CliFailure } from '#cli/failure';

/** The API's error object as tools return it. */
export interface ToolError extends Omit<ErrorBody, 'code'> {
  code: ErrorBody['code'] | 'UNREACHABLE';
}

/** Turns whatever a tool threw into an error object. A fault of this program's own is told without its details. */
export const toolErrorOf = (thrown: unknown): ToolError => {
  if (thrown instanceof BerthError) return thrown.toBody();
  if (!(thrown instanceof CliFailure)) return toBerthError(thrown).toBody();
  const { code, ...rest } = thrown.body;
  if (code === 'LOCAL_ERROR' || code === 'USAGE') return { ...rest, code: 'INVALID_INPUT' };
  if (code !== 'INTERRUPTED') return { ...rest, code };
  return { code: 'INTERNAL_ERROR', message: 'the call was stopped', hint: 'call it again', retryable: true };
};
