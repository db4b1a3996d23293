# frozen_string_literal: true

require "erb"
require "json"
require "tiny_http"
require_relative "catalogue"

module Shop
  class App
    VIEWS = File.expand_path("../../views", __dir__)

    def initialize(catalogue: Catalogue.new)
      @catalogue = catalogue
    end

    def call(request)
      case request.path
      when "/" then TinyHttp::Response.html(render("home", products: @catalogue.all))
      when %r{\A/products/(?<slug>\w+)\z} then product(Regexp.last_match[:slug])
      else TinyHttp::Response.not_found
      end
    end

    private

    def product(slug)
      found = @catalogue.find(slug)
      return TinyHttp::Response.not_found if found.nil?

      TinyHttp::Response.json(JSON.generate(name: found.name, price: found.price))
    end

    def render(view, **values)
      ERB.new(File.read(File.join(VIEWS, "#{view}.erb")), trim_mode: "-").result_with_hash(values)
    end
  end
end
