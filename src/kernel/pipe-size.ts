import { dlopen, FFIType } from 'bun:ffi';

/** fcntl(2); the same on all architectures of Linux. */
const F_SETPIPE_SZ = 1031;
/** What everybody may have, unless /proc/sys/fs/pipe-max-size says otherwise. */
export const PIPE_BYTES = 1024 * 1024;

/**
 * Makes room in the pipe behind a descriptor, for as long as it is open anywhere: with the usual 64 KiB, who writes stands
 * still whenever who reads has no processor for a millisecond. Linux only. False when the kernel refuses: it stays as it is.
 */
export const widenPipe = (fd: number): boolean => {
  const libc = dlopen('libc.so.6', {
    fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  });
  try {
    return libc.symbols.fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES;
  } finally {
    libc.close();
  }
};
