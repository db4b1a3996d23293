import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, fileOf, planOf, refusal } from './support.ts';

const cmake = (...lines: string[]): Files => ({ 'CMakeLists.txt': ['project(shop CXX)', ...lines].join('\n') });
const target = (files: Files, service = 'web'): string | undefined =>
  /TARGET_FILE:([^>]+)>/.exec(fileOf(planOf(files, { service }), 'berth/target.cmake'))?.[1];
const apt = (files: Files): string[] => {
  const usual = planOf(cmake('add_executable(a a.cpp)')).apt.build;
  return planOf(files).apt.build.filter((name) => !usual.includes(name));
};

describe('CMake: the target', () => {
  test.each<[string, Files, string, string]>([
    ['the only one', cmake('add_executable(a a.cpp)'), 'web', 'a'],
    ['one named by a variable', cmake('add_executable(${PROJECT_NAME} a.cpp)'), 'web', 'shop'],
    ['one named by a variable of its own', cmake('set(APP "server")', 'add_executable(${APP} a.cpp)'), 'web', 'server'],
    [
      'one of an added folder',
      { ...cmake('add_subdirectory(src)'), 'src/CMakeLists.txt': 'add_executable(a a.cpp)' },
      'web',
      'a',
    ],
    ['in any case of letters', cmake('ADD_EXECUTABLE (a a.cpp)'), 'web', 'a'],
    [
      'not in a comment',
      cmake('# add_executable(b b.cpp)', '#[[ add_executable(c c.cpp) ]]', 'add_executable(a a.cpp)'),
      'web',
      'a',
    ],
    ['not in a string', cmake('message("add_executable(b b.cpp)")', 'add_executable(a a.cpp)'), 'web', 'a'],
    [
      'not an imported one',
      cmake('add_executable(b IMPORTED)', 'add_executable(x ALIAS a)', 'add_executable(a a.cpp)'),
      'web',
      'a',
    ],
    [
      'not a test',
      {
        ...cmake('add_executable(a a.cpp)', 'add_subdirectory(tests)'),
        'tests/CMakeLists.txt': 'add_executable(t t.cpp)',
      },
      'web',
      'a',
    ],
    [
      'not one that is left out of all',
      cmake('add_executable(b EXCLUDE_FROM_ALL b.cpp)', 'add_executable(a a.cpp)'),
      'web',
      'a',
    ],
    [
      'the installed one',
      cmake('add_executable(a a.cpp)', 'add_executable(b b.cpp)', 'install(TARGETS b RUNTIME DESTINATION bin)'),
      'web',
      'b',
    ],
    ['the one with the name of the service', cmake('add_executable(a a.cpp)', 'add_executable(b b.cpp)'), 'b', 'b'],
    [
      'the one with the name of the project',
      cmake('add_executable(shop a.cpp)', 'add_executable(b b.cpp)'),
      'web',
      'shop',
    ],
    ['with parentheses inside', cmake('if((A) AND (B))', 'add_executable(a a.cpp)', 'endif()'), 'web', 'a'],
  ])('%s', (_title, files, service, wanted) => {
    expect(target(files, service)).toBe(wanted);
  });

  test('several and no choice are an error that lists them', () => {
    const error = refusal(cmake('add_executable(a a.cpp)', 'add_executable(b b.cpp)'));
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'INVALID_INPUT',
      message: 'this CMake project has several executable targets: a, b',
    });
  });

  test('a library says that it cannot be started', () => {
    expect(refusal(cmake('add_library(a a.cpp)')).message).toStartWith(
      'a CMake project was detected, but it has no start command',
    );
  });

  test('folders that add each other end', () => {
    expect(
      target({
        ...cmake('add_subdirectory(.)', 'add_subdirectory(x)', 'add_executable(a a.cpp)'),
        'x/CMakeLists.txt': 'add_subdirectory(../x)',
      }),
    ).toBe('a');
  });
});

describe('CMake: libraries from Debian', () => {
  test.each<[string, string, string[]]>([
    ['find_package', 'find_package(CURL REQUIRED)', ['libcurl4-openssl-dev']],
    [
      'pkg_check_modules',
      'pkg_check_modules(DEPS REQUIRED IMPORTED_TARGET libmicrohttpd>=0.9 sqlite3)',
      ['libmicrohttpd-dev', 'libsqlite3-dev'],
    ],
    ['find_library', 'find_library(PQ NAMES pq)', ['libpq-dev']],
    ['target_link_libraries', 'target_link_libraries(a PRIVATE microhttpd -lz)', ['libmicrohttpd-dev', 'zlib1g-dev']],
    [
      'Boost by component',
      'find_package(Boost 1.74 REQUIRED COMPONENTS program_options system)',
      ['libboost-dev', 'libboost-program-options-dev', 'libboost-system-dev'],
    ],
    ['headers of Boost', 'find_package(Boost REQUIRED)', ['libboost-dev']],
    ['names that nobody knows', 'find_package(MyOwnThing)', []],
  ])('%s', (_title, line, packages) => {
    expect(apt(cmake('add_executable(a a.cpp)', line))).toEqual(packages);
  });

  test('those of the user are added', () => {
    expect(
      planOf({
        ...cmake('add_executable(a a.cpp)'),
        'berth.toml': '[build]\nbuild_apt = ["libx-dev"]\nrun_apt = ["ffmpeg"]\n',
      }).apt,
    ).toMatchObject({ build: expect.arrayContaining(['libx-dev']), run: ['ffmpeg'] });
  });
});

describe('Conan and vcpkg', () => {
  test('a conanfile is installed before the sources are there', () => {
    const plan = planOf({
      ...cmake('add_executable(a a.cpp)'),
      'conanfile.txt': '[requires]\nfmt/11.0.2\n[generators]\nCMakeDeps\n',
    });
    expect(plan.install.at(-1)).toBe(
      'conan install . --output-folder=/conan --build=missing -s build_type=Release -g CMakeToolchain',
    );
    expect(plan.stages[0]?.steps).toContainEqual({ kind: 'copy', sources: ['source/conanfile.txt'], target: './' });
    expect(plan.build[1]).toContain('-DCMAKE_TOOLCHAIN_FILE="$(find /conan -name conan_toolchain.cmake | head -n 1)"');
  });

  test('vcpkg.json too', () => {
    const plan = planOf({ ...cmake('add_executable(a a.cpp)'), 'vcpkg.json': '{}' });
    expect(plan.install.at(-1)).toBe('/opt/vcpkg/vcpkg install --x-install-root=/vcpkg_installed');
    expect(plan.build[1]).toContain('-DVCPKG_MANIFEST_INSTALL=OFF');
  });
});

describe('Meson', () => {
  const meson = (...lines: string[]): Files => ({
    'meson.build': ["project('shop', 'cpp', version: '1')", ...lines].join('\n'),
  });
  const program = (files: Files, service = 'web'): string | undefined =>
    /install -Ds \/build\/(\S+)/.exec(planOf(files, { service }).build.at(-1) ?? '')?.[1];
  test.each<[string, Files, string, string]>([
    ['the only one', meson("executable('a', 'a.cpp')"), 'web', 'a'],
    ['one with the name of the project', meson("executable(meson.project_name(), 'a.cpp')"), 'web', 'shop'],
    ['one named by a variable', meson("name = 'x'", "executable(name, files('a.cpp'))"), 'web', 'x'],
    ['one of a subdir', { ...meson("subdir('src')"), 'src/meson.build': "executable('a', 'a.cpp')" }, 'web', 'src/a'],
    [
      'the installed one',
      meson("executable('a', 'a.cpp')", "executable('b', 'b.cpp', dependencies: [x], install: true)"),
      'web',
      'b',
    ],
    ['the one of the service', meson("executable('a', 'a.cpp')", "executable('b', 'b.cpp')"), 'b', 'b'],
    [
      'not a test',
      { ...meson("executable('a', 'a.cpp')", "subdir('tests')"), 'tests/meson.build': "executable('t', 't.cpp')" },
      'web',
      'a',
    ],
    ['not in a comment', meson("# executable('b', 'b.cpp')", "executable('a', 'a.cpp')"), 'web', 'a'],
  ])('%s', (_title, files, service, wanted) => {
    expect(program(files, service)).toBe(wanted);
  });

  test('several are an error', () => {
    expect(refusal(meson("executable('a', 'a.c')", "executable('b', 'b.c')")).message).toBe(
      'this Meson project has several executables: a, b',
    );
  });

  test('dependency() and find_library() come from Debian', () => {
    expect(
      apt(
        meson(
          "executable('a', 'a.c', dependencies: [dependency('libcurl'), dependency('boost', modules: ['json'])])",
          "cc.find_library('microhttpd')",
        ),
      ),
    ).toEqual(['libboost-dev', 'libboost-json-dev', 'libcurl4-openssl-dev', 'libmicrohttpd-dev', 'meson']);
  });
});

describe('Makefile', () => {
  const make = (text: string, files: Files = { 'main.c': '' }): Files => ({ Makefile: text, ...files });
  const made = (files: Files): string[] => planOf(files).build;
  test.each<[string, string, string]>([
    ['a rule of its own', 'server: main.o\n\t$(CC) -o $@ $^ -lsqlite3\n', 'server'],
    [
      'a name in a variable',
      'TARGET := server\nOBJ = main.o\nall: $(TARGET)\n$(TARGET): $(OBJ)\n\t$(CC) $(CFLAGS) $^ -o $(TARGET)\n%.o: %.c\n\t$(CC) -c $< -o $@\n',
      'server',
    ],
    ['in a folder', 'bin/server: main.c\n\t@gcc main.c -o $@\n', 'bin/server'],
    ['beside tests', 'server: main.o\n\t$(CC) -o $@ $^\ntest_server: t.o\n\t$(CC) -o $@ $^\n', 'server'],
    ['over two lines', 'server: main.o\n\t$(CC) \\\n\t  $^ -o $@\n', 'server'],
  ])('%s', (_title, text, wanted) => {
    expect(made(make(text))).toEqual([`make -j"$(nproc)" ${wanted}`, `install -Ds ${wanted} /out/app`]);
  });

  test.each<[string, Files]>([
    ['a list of chores', make('run:\n\tpython app.py\n')],
    ['no sources of C', make('server: main.o\n\t$(CC) -o $@ $^\n', { 'main.txt': '' })],
    ['a library', make('lib.so: main.o\n\t$(CC) -shared -o $@ $^\n')],
  ])('%s is none', (_title, files) => {
    expect(refusal(files).kind).toBe('NO_PROVIDER_DETECTED');
  });

  test('libraries of -l and pkg-config come from Debian', () => {
    expect(
      planOf(
        make(
          'LIBS = -lmicrohttpd $(shell pkg-config --libs libcurl jansson)\nserver: main.o\n\t$(CC) -o $@ $^ $(LIBS)\n',
        ),
      ).apt.build,
    ).toEqual(expect.arrayContaining(['libcurl4-openssl-dev', 'libjansson-dev', 'libmicrohttpd-dev']));
  });
});

test('[build] version chooses the compiler', () => {
  const plan = planOf(cmake('add_executable(a a.cpp)'), { env: { BERTH_VERSION: '13' } });
  expect(plan.stages[0]?.steps).toContainEqual({ kind: 'env', values: { CC: 'gcc-13', CXX: 'g++-13' } });
  expect(plan.apt.build).toContain('g++-13');
});

test('a build command of its own needs a start command', () => {
  const own = { ...cmake('add_library(a a.cpp)'), 'berth.toml': '[build]\nbuild = "make -C x"\n' };
  expect(refusal(own).message).toContain(
    'a build command of its own was detected, but it has no start command (looked for [build] start)',
  );
  expect(planOf(own, { env: { BERTH_START: './x/server' } }).start).toEqual(['./x/server']);
});

test('the Dockerfile', () => {
  expect(dockerfileOf({ ...cmake('add_executable(shop src/main.cpp)'), 'src/main.cpp': '', 'templates/a.html': '' }))
    .toBe(`FROM debian:trixie-slim AS build
RUN --mount=type=cache,id=berth-shop-web-apt,target=/var/cache/apt,sharing=locked --mount=type=cache,id=berth-shop-web-apt-lists,target=/var/lib/apt,sharing=locked rm -f /etc/apt/apt.conf.d/docker-clean && apt-get update -qq && apt-get install -y -qq --no-install-recommends build-essential ca-certificates ccache cmake git ninja-build pkg-config
WORKDIR /app
COPY berth/target.cmake /berth/target.cmake
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-ccache,target=/root/.cache/ccache --mount=type=cache,id=berth-shop-web-cpp-build,target=/build,sharing=locked --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && find . -path ./.git -prune -o -type f -exec touch {} + && cmake --fresh -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/berth/target.cmake && cmake --build /build --target shop && install -Ds "$(cat /build/berth-target)" /out/app && mkdir -p /out/lib && ldd /out/app 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" && $1 !~ "^(ld-linux.*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl|nsl|gcc_s|stdc[+][+])[.]so.*)$" { print $3 }' | sort -u | xargs -r cp -Lt /out/lib

FROM debian:trixie-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
WORKDIR /app
COPY --from=build /out/lib/ /usr/local/lib/
RUN ldconfig
COPY --from=build /out/app /usr/local/bin/app
COPY --chown=1000:1000 source/templates/ ./templates/
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080
USER app
EXPOSE 8080
CMD ["/usr/local/bin/app"]
`);
});
