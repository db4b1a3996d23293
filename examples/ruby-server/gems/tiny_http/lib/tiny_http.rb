# frozen_string_literal: true

require_relative "tiny_http/request"
require_relative "tiny_http/response"
require_relative "tiny_http/server"
