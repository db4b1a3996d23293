import { status } from 'elysia';
import type { Accepted } from './model.ts';

/** Gives the 202 to a reply that started an operation; a dry run and a reply without change stay 200. */
export const acceptedOr = <T extends object>(reply: Accepted | T) => (isAccepted(reply) ? status(202, reply) : reply);

const isAccepted = (reply: object): reply is Accepted => 'operation_id' in reply && 'stream_url' in reply;
