import { status } from 'elysia';
import type { Accepted } from './model.ts';

/** Gives the 202 to a reply that started an operation; a dry run and a reply without change stay 200. */
export const acceptedOr = <R extends object>(reply: R) =>
  isAccepted(reply) ? status(202, reply as Extract<R, Accepted>) : (reply as Exclude<R, Accepted>);

const isAccepted = (reply: object): boolean => 'operation_id' in reply && 'stream_url' in reply;
