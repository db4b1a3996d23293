/** Of every cluster: one that is made for a datastore, and one that is kept as a template. Plain words, for a script. */
export const INITDB_OPTIONS = [
  '--username=postgres',
  '--auth=scram-sha-256',
  // The collation is the image's own (LANG), as people know it from the official one.
  '--encoding=UTF8',
  '--data-checksums',
] as const;

/** Below the home of a server, in a directory that no server looks into. */
const CONFIG = 'berth';

/** Names of the files that `START` and `MAKE` look for, below the home of the server. */
export const MARKS = {
  /** Password of the superuser of a cluster that is still to be made. */
  newPassword: `${CONFIG}/new-password`,
  /** A cluster was unpacked: segments of its log lack the zeros that they end with, and nothing of it is on the disk yet. */
  unsynced: `${CONFIG}/unsynced`,
  /** This volume has a data directory, or a password to make it with: nothing is unpacked over it. */
  prepared: `${CONFIG}/prepared`,
  /** What a template holds beyond what initdb makes: one statement a line. */
  statements: `${CONFIG}/statements.sql`,
} as const;

/** A segment of the log, as initdb makes them. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

/** Berth unpacks a cluster while the container starts; it takes parts of a second, and longer on a disk that is busy. */
const UNPACK_SECONDS = 120;
const WAIT_SECONDS = 0.01;

/**
 * Starts the server, and before its first start waits for its cluster, or makes it. It makes one only where berth has left a
 * password for that: a volume that has lost its data is none to begin anew in. The rename comes last, so that a cluster is
 * there whole or not at all.
 */
export const START = `set -e
home="\${PGDATA%/*}"
waited=0
until [ -e "$home/${MARKS.prepared}" ]; do
  waited=$((waited + 1))
  if [ $waited -gt ${UNPACK_SECONDS / WAIT_SECONDS} ]; then
    echo "no data directory was unpacked into this volume" >&2
    exit 1
  fi
  sleep ${WAIT_SECONDS}
done
if [ -e "$home/${MARKS.newPassword}" ] && [ ! -e "$PGDATA" ]; then
  rm -rf "$PGDATA.new"
  initdb --pgdata="$PGDATA.new" --pwfile="$home/${MARKS.newPassword}" ${INITDB_OPTIONS.join(' ')}
  mv "$PGDATA.new" "$PGDATA"
fi
if [ -e "$home/${MARKS.unsynced}" ]; then
  truncate -s ${SEGMENT_BYTES} "$PGDATA"/pg_wal/0*
  initdb --sync-only --pgdata="$PGDATA"
fi
rm -f "$home/${MARKS.newPassword}" "$home/${MARKS.unsynced}"
exec postgres "$@"
`;

/**
 * Makes the cluster of a template, in a container that has no network: nobody can connect to it meanwhile. Its log, which
 * nothing needs after a shutdown, begins anew at the end: all but the first page of it is zeros.
 */
export const MAKE = `set -e
home="\${PGDATA%/*}"
initdb --pgdata="$PGDATA" --pwfile="$home/${MARKS.newPassword}" --no-sync ${INITDB_OPTIONS.join(' ')}
postgres --single -c exit_on_error=on -c fsync=off postgres <"$home/${MARKS.statements}"
pg_resetwal --pgdata="$PGDATA"
`;
