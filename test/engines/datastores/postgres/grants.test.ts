import { describe, expect, test } from 'bun:test';
import { databaseSettings, ownGrants } from '#engines/datastores/postgres/grants';

const filter = { roles: new Set(['app', 'berth_reader', 'rölle', 'a"b; c']), owner: 'app' };
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('grants of a dump', () => {
  test('to roles that the server has, and to PUBLIC, stay as they are', () => {
    const text =
      'REVOKE ALL ON FUNCTION public.f() FROM PUBLIC;\nGRANT SELECT ON TABLE public.t TO berth_reader WITH GRANT OPTION;\n';
    expect(ownGrants(text, filter)).toBe(text);
  });

  test('to roles that are gone become spaces of the same length', () => {
    const kept = 'GRANT ALL ON TABLE public.t TO app;\n';
    const gone = 'GRANT SELECT ON TABLE public.t TO app_old;\n';
    // The line break before a statement belongs to it.
    const blank = `${' '.repeat(gone.length)}\n`;
    expect(ownGrants(kept + gone + kept, filter)).toBe(kept.trimEnd() + blank + kept.trimStart());
  });

  test('are told by the role, not by what the table or its columns are called', () => {
    const text = 'GRANT SELECT("x TO y; z") ON TABLE public."a TO nobody; b" TO app;';
    expect(ownGrants(text, filter)).toBe(text);
    expect(ownGrants(text.replace(/app;$/, 'nobody;'), filter).trim()).toBe('');
  });

  test('know roles whose names need quotes or are not ASCII', () => {
    const text = latin1('GRANT SELECT ON TABLE public.t TO "rölle";GRANT SELECT ON TABLE public.t TO "a""b; c";');
    expect(ownGrants(text, filter)).toBe(text);
    const gone = latin1('GRANT SELECT ON TABLE public.t TO "rölle2";');
    expect(ownGrants(gone, filter)).toBe(' '.repeat(gone.length));
  });

  test('by default to objects of another role, and those made in another session, are left out', () => {
    const text =
      'ALTER DEFAULT PRIVILEGES FOR ROLE app_one GRANT SELECT ON TABLES TO app;\nSET SESSION AUTHORIZATION x;\nGRANT SELECT ON TABLE t TO app;\nRESET SESSION AUTHORIZATION;\nALTER DEFAULT PRIVILEGES FOR ROLE app REVOKE ALL ON FUNCTIONS FROM PUBLIC;\n';
    expect(ownGrants(text, filter).replaceAll(/\s+/g, ' ').trim()).toBe(
      'GRANT SELECT ON TABLE t TO app; ALTER DEFAULT PRIVILEGES FOR ROLE app REVOKE ALL ON FUNCTIONS FROM PUBLIC;',
    );
    expect(ownGrants(text, filter)).toHaveLength(text.length);
  });

  test('with quotes that never end take time by their length only', () => {
    const text = `GRANT "${'" TO "'.repeat(200_000)}`;
    const start = performance.now();
    expect(ownGrants(text, filter)).toHaveLength(text.length);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('settings of a dumped database', () => {
  test('are taken for another one, those of roles and of the storage limit are not', () => {
    const text = [
      "COMMENT ON DATABASE app IS 'ALTER DATABASE app SET work_mem TO ''1GB'';';",
      "ALTER DATABASE app SET search_path TO 'a', 'B;c', 'public';",
      "ALTER DATABASE app SET default_transaction_read_only TO 'on';",
      "ALTER ROLE app IN DATABASE app SET work_mem TO '5MB';",
      'ALTER DATABASE app SET "TimeZone" TO \'Europe/Berlin\';\n',
    ].join('\n');
    expect(databaseSettings(text, '"app_2"')).toEqual([
      `ALTER DATABASE "app_2" SET search_path TO 'a', 'B;c', 'public';`,
      `ALTER DATABASE "app_2" SET "TimeZone" TO 'Europe/Berlin';`,
    ]);
  });
});
