import type { Files } from './support.ts';

/** Small servers in languages without an example of their own. Each has its answer, `from …`, in one place. */

export const MESON: Files = {
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

export const ZIG: Files = {
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

export const MAKE: Files = {
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

// As `mix new shop --sup` lays it out; Hex and what it has cannot be reached here.
export const ELIXIR: Files = {
  '.tool-versions': 'elixir 1.18.3\n',
  'mix.exs': `defmodule Shop.MixProject do
  use Mix.Project

  def project do
    [
      app: :shop,
      version: "0.1.0",
      elixir: "~> 1.18",
      start_permanent: Mix.env() == :prod,
      deps: deps()
    ]
  end

  def application do
    [
      extra_applications: [:logger],
      mod: {Shop.Application, []}
    ]
  end

  defp deps do
    [
      # {:dep_from_hexpm, "~> 0.3.0"},
    ]
  end
end
`,
  'config/config.exs': 'import Config\n',
  'config/runtime.exs': `import Config

config :shop, port: String.to_integer(System.get_env("PORT", "4000"))
`,
  'lib/shop/application.ex': `defmodule Shop.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    children = [
      {Task.Supervisor, name: Shop.Connections},
      {Shop.Server, Application.fetch_env!(:shop, :port)}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Shop.Supervisor)
  end
end
`,
  'lib/shop/server.ex': `defmodule Shop.Server do
  use Task, restart: :permanent

  @page "from Elixir"

  def start_link(port), do: Task.start_link(__MODULE__, :listen, [port])

  def listen(port) do
    {:ok, socket} = :gen_tcp.listen(port, [:binary, packet: :http_bin, active: false, reuseaddr: true])
    accept(socket)
  end

  defp accept(socket) do
    {:ok, client} = :gen_tcp.accept(socket)
    {:ok, pid} = Task.Supervisor.start_child(Shop.Connections, fn -> answer(client) end)
    :gen_tcp.controlling_process(client, pid)
    accept(socket)
  end

  defp answer(client) do
    case :gen_tcp.recv(client, 0) do
      {:ok, :http_eoh} ->
        :gen_tcp.send(client, [
          "HTTP/1.1 200 OK\\r\\ncontent-length: #{byte_size(@page)}\\r\\nconnection: close\\r\\n\\r\\n",
          @page
        ])

      {:ok, _} ->
        answer(client)

      {:error, _} ->
        :ok
    end
  end
end
`,
};

export const CRYSTAL: Files = {
  'shard.yml': `name: shop
version: 0.1.0

targets:
  shop:
    main: src/shop.cr

crystal: '>= 1.14.0'
`,
  'src/shop.cr': `require "socket"

PAGE = "from Crystal"

server = TCPServer.new("0.0.0.0", (ENV["PORT"]? || "8080").to_i)
Process.on_terminate { server.close }

while client = server.accept?
  spawn do
    while (line = client.gets) && !line.empty?
    end
    client << "HTTP/1.1 200 OK\\r\\nContent-Length: #{PAGE.bytesize}\\r\\nConnection: close\\r\\n\\r\\n" << PAGE
    client.close
  end
end
`,
};
