# frozen_string_literal: true

module TinyHttp
  # What a client asks for; bodies are not read.
  Request = Data.define(:verb, :path, :headers) do
    def self.read(socket)
      verb, target = socket.gets&.split
      return if target.nil?

      headers = {}
      while (line = socket.gets&.chomp) && !line.empty?
        name, value = line.split(": ", 2)
        headers[name.downcase] = value
      end
      new(verb:, path: target.split("?", 2).first, headers:)
    end
  end
end
