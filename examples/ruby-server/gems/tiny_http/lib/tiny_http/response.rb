# frozen_string_literal: true

module TinyHttp
  REASONS = { 200 => "OK", 404 => "Not Found", 500 => "Internal Server Error" }.freeze

  Response = Data.define(:status, :type, :body) do
    def self.html(body, status: 200) = new(status:, type: "text/html; charset=utf-8", body:)

    def self.json(body) = new(status: 200, type: "application/json", body:)

    def self.not_found = html("Not found", status: 404)

    def write(socket)
      socket.write("HTTP/1.1 #{status} #{REASONS.fetch(status)}\r\n",
                   "Content-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n", body)
    end
  end
end
