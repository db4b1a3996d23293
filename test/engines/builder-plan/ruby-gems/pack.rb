# frozen_string_literal: true

# pack.rb FOLDER: Debian's gems as archives, the compiled ones for this platform; and one with an extension to compile.
require "fileutils"
require "rubygems/package"
require "tmpdir"

def files = Dir["**/*"].select { |file| File.file?(file) }

def pack(spec, target)
  spec.files = files
  spec.test_files = []
  Gem::Package.build(spec, true, false, File.join(target, spec.file_name))
end

def pack_debian(spec, target)
  Dir.mktmpdir do |dir|
    FileUtils.cp_r("#{spec.full_gem_path}/.", dir)
    fresh = spec.dup
    unless spec.extensions.empty?
      FileUtils.cp_r("#{spec.extension_dir}/.", File.join(dir, "lib"))
      fresh.extensions = []
      fresh.platform = Gem::Platform.new("x86_64-linux")
    end
    Dir.chdir(dir) { pack(fresh, target) }
  end
end

def pack_compiled(target)
  Dir.mktmpdir do |dir|
    FileUtils.mkdir_p("#{dir}/ext/twice")
    File.write("#{dir}/ext/twice/extconf.rb", "require 'mkmf'\ncreate_makefile('twice')\n")
    File.write("#{dir}/ext/twice/twice.c", <<~C)
      #include <ruby.h>
      static VALUE twice(VALUE self, VALUE number) { return LONG2NUM(2 * NUM2LONG(number)); }
      void Init_twice(void) { rb_define_global_function("twice", twice, 1); }
    C
    spec = Gem::Specification.new("twice", "1.0.0") do |it|
      it.summary = "Doubles"
      it.authors = ["Acme"]
      it.extensions = ["ext/twice/extconf.rb"]
    end
    Dir.chdir(dir) { pack(spec, target) }
  end
end

target = File.expand_path(ARGV.fetch(0))
wanted = %w[sinatra rackup puma]
seen = {}
until wanted.empty?
  name = wanted.shift
  next if seen[name]

  spec = Gem::Specification.find_by_name(name)
  seen[name] = true
  wanted.concat(spec.runtime_dependencies.map(&:name))
  pack_debian(spec, target)
end
pack_compiled(target)
