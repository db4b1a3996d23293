import type { Connection, Credential, DatastoreInstance } from '../port.ts';
import { APP_DATABASE, POSTGRES_PORT } from './connect.ts';

/** What apps are given. The name is on the certificate, so clients that verify it with `sslmode=require` are content too. */
export const connectionOf = (instance: DatastoreInstance, { user, password }: Credential): Connection => {
  const [name, secret] = [encodeURIComponent(user), encodeURIComponent(password)];
  return {
    // Not `postgres://`, which SQLAlchemy refuses.
    url: `postgresql://${name}:${secret}@${instance.host}:${POSTGRES_PORT}/${APP_DATABASE}?sslmode=require`,
    parts: {
      PGHOST: instance.host,
      PGPORT: String(POSTGRES_PORT),
      PGUSER: user,
      PGPASSWORD: password,
      PGDATABASE: APP_DATABASE,
      PGSSLMODE: 'require',
    },
  };
};
