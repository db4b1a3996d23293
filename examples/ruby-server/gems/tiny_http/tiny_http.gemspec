# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "tiny_http"
  spec.version = "0.1.0"
  spec.summary = "A small HTTP server on threads"
  spec.authors = ["Acme"]
  spec.files = Dir["lib/**/*.rb"]
  spec.required_ruby_version = ">= 3.2"
end
