import type { ServerContext } from '@modelcontextprotocol/server';
import type { Progress } from './tool.ts';

const TOTAL = 5;

/** Progress as the protocol wants it: only when asked for, and always rising. */
export const createProgress = ({ mcpReq }: ServerContext, onError: (thrown: unknown) => void): Progress => {
  const token = mcpReq._meta?.progressToken;
  let step = 0;
  let progress = -1;
  return {
    report: (message, next) => {
      if (token === undefined) return;
      step = Math.max(step, next ?? step);
      // Signs of life come ever closer to the next step, and never reach it.
      progress = step > progress ? step : progress + (step + 1 - progress) / 4;
      mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken: token, progress, total: TOTAL, message } })
        .catch(onError);
    },
  };
};
