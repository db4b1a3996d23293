# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("lib", __dir__)
$stdout.sync = true

require "shop/app"

port = Integer(ENV.fetch("PORT", "8080"))
app = Shop::App.new
server = TinyHttp::Server.new("0.0.0.0", port) { |request| app.call(request) }

%w[INT TERM].each { |signal| trap(signal) { server.stop } }

puts "listening on #{port}"
server.run
