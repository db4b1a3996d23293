import { afterAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RealBuilds } from './real-support.ts';
import type { Files } from './support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-native-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

const MESON: Files = {
  'meson.build': `project('shop', 'c', version: '0.1.0', default_options: ['c_std=gnu11', 'warning_level=2'])

microhttpd = dependency('libmicrohttpd')
subdir('src')
`,
  'src/meson.build': `executable(meson.project_name(), 'main.c', dependencies: [microhttpd], install: true)\n`,
  'src/main.c': `#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state) {
  (void)cls, (void)url, (void)method, (void)version, (void)data, (void)size, (void)state;
  static char page[] = "from Meson";
  struct MHD_Response *response = MHD_create_response_from_buffer(strlen(page), page, MHD_RESPMEM_PERSISTENT);
  enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return result;
}

int main(void) {
  const char *port = getenv("PORT");
  sigset_t signals;
  int received;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)atoi(port ? port : "8080"),
                                               NULL, NULL, &answer, NULL, MHD_OPTION_END);
  if (daemon == NULL) return EXIT_FAILURE;
  sigwait(&signals, &received);
  MHD_stop_daemon(daemon);
  return EXIT_SUCCESS;
}
`,
};

const ZIG: Files = {
  'build.zig': `const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const exe = b.addExecutable(.{
        .name = "zig_http",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
        }),
    });
    b.installArtifact(exe);
}
`,
  'build.zig.zon': `.{
    .name = .zig_http,
    .version = "0.0.0",
    .fingerprint = 0x5f12ee5188fbbfc2,
    .minimum_zig_version = "0.15.1",
    .dependencies = .{},
    .paths = .{ "build.zig", "build.zig.zon", "src" },
}
`,
  'src/main.zig': `const std = @import("std");

pub fn main() !void {
    const port = try std.fmt.parseInt(u16, std.posix.getenv("PORT") orelse "8080", 10);
    const address = try std.net.Address.parseIp("0.0.0.0", port);
    var listener = try address.listen(.{ .reuse_address = true });
    defer listener.deinit();
    while (true) {
        const connection = try listener.accept();
        defer connection.stream.close();
        var buffer: [4096]u8 = undefined;
        _ = connection.stream.read(&buffer) catch continue;
        connection.stream.writeAll("HTTP/1.1 200 OK\\r\\nContent-Length: 8\\r\\nConnection: close\\r\\n\\r\\nfrom Zig") catch continue;
    }
}
`,
};

const MAKE: Files = {
  Makefile: `TARGET := server
OBJECTS := main.o

all: $(TARGET)

$(TARGET): $(OBJECTS)
\t$(CC) $(LDFLAGS) -o $@ $^ -lmicrohttpd

%.o: %.c
\t$(CC) $(CFLAGS) -c -o $@ $<

.PHONY: all
`,
  'main.c': (MESON['src/main.c'] ?? '').replace('from Meson', 'from make'),
};

describe('programs in other languages, built and run for real', () => {
  test.each<[string, Files, string, string]>([
    ['meson-http', MESON, 'from Meson', 'src/main.c'],
    ['make-http', MAKE, 'from make', 'main.c'],
    ['zig-http', ZIG, 'from Zig', 'src/main.zig'],
  ])(
    '%s answers, has its libraries, stops in time, and an edit fetches nothing',
    async (name, files, says, source) => {
      const dir = join(folder, name);
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir, path)), { recursive: true });
        await writeFile(join(dir, path), text);
      }
      const running = await builds.start((await builds.build(dir)).tag);
      expect(await running.get('/').then((response) => response.text())).toBe(says);
      expect(await running.stop()).toBeLessThan(5000);
      await writeFile(join(dir, source), (files[source] ?? '').replace(says, 'from fjord'.slice(0, says.length)));
      const { tag, cached } = await builds.build(dir);
      // Everything but the sources, the build and what it leaves.
      expect(cached.length).toBeGreaterThanOrEqual(5);
      const again = await builds.start(tag);
      expect(await again.get('/').then((response) => response.text())).toBe('from fjord'.slice(0, says.length));
      await again.stop();
    },
    300_000,
  );
});
