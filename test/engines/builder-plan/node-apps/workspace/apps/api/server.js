import { greet } from '@shop/greet';
import ms from 'ms';
import { createServer } from 'node:http';

createServer((_request, response) => response.end(greet(`a workspace, ${ms(60_000)}`))).listen(process.env.PORT);
