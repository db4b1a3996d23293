import type { Credential, DatastoreEngine, DatastoreKind } from '#engines/datastores/port';
import type { DatastoreRow, DatastoreStore } from './store.ts';
import { variablesOf } from './variables.ts';
import { hostOf } from './view.ts';

/** What the services of a project are given for its datastores. */
export interface Injection {
  /** Values of all that are ready. */
  variables(project: string): Record<string, string>;
  /** Names that one datastore gives. Pure. */
  namesOf(datastore: { kind: DatastoreKind; name: string }): string[];
  /** The variables of a project by datastore, ready ones only. */
  names(project: string): { name: string; datastore: string }[];
  /** Passwords and URLs, to keep out of logs. */
  secrets(project: string): string[];
}

export interface InjectionDeps {
  store: Pick<DatastoreStore, 'list'>;
  engines: Readonly<Record<DatastoreKind, DatastoreEngine>>;
}

/** Names do not depend on who connects. */
const NOBODY: Credential = { user: 'user', password: 'password' };

export const createInjection = ({ store, engines }: InjectionDeps): Injection => {
  const variables = (datastore: { kind: DatastoreKind; name: string }, credential: Credential) =>
    variablesOf(datastore, engines[datastore.kind].connection({ host: hostOf(datastore.name) }, credential));
  const ready = (project: string): DatastoreRow[] => store.list(project).filter((row) => row.status === 'ready');
  const ofRow = (row: DatastoreRow): Record<string, string> => {
    const credential = row.secrets.credentials.at(-1);
    return credential === undefined ? {} : variables(row, credential);
  };
  const namesOf: Injection['namesOf'] = (datastore) => Object.keys(variables(datastore, NOBODY));

  return {
    variables: (project) => Object.assign({}, ...ready(project).map(ofRow)) as Record<string, string>,
    namesOf,
    names: (project) => ready(project).flatMap((row) => namesOf(row).map((name) => ({ name, datastore: row.name }))),
    secrets: (project) =>
      store.list(project).flatMap(({ kind, name, secrets }) => [
        secrets.adminPassword,
        secrets.readerPassword,
        secrets.writerPassword,
        ...secrets.credentials.flatMap((credential) => [
          credential.password,
          // A whole URL is one secret: nothing of it but the password is lost by masking more.
          ...Object.entries(variables({ kind, name }, credential))
            .filter(([variable]) => variable.endsWith('URL'))
            .map(([, url]) => url),
        ]),
      ]),
  };
};
