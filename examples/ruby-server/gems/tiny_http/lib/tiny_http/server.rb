# frozen_string_literal: true

require "socket"

module TinyHttp
  # Answers each connection in a thread of its own; `stop` lets those that run come to their end.
  class Server
    def initialize(host, port, &handler)
      @listener = TCPServer.new(host, port)
      @handler = handler
      @threads = []
    end

    def run
      loop do
        socket = @listener.accept
        @threads = @threads.select(&:alive?) << Thread.new(socket) { |open| answer(open) }
      end
    rescue IOError, Errno::EBADF
      @threads.each { |thread| thread.join(5) }
    end

    def stop = @listener.close

    private

    def answer(socket)
      request = Request.read(socket)
      return if request.nil?

      response = respond(request)
      response.write(socket)
      puts "#{request.verb} #{request.path} #{response.status}"
    rescue Errno::EPIPE, Errno::ECONNRESET
      nil
    ensure
      socket.close
    end

    def respond(request)
      @handler.call(request)
    rescue StandardError => e
      warn e.full_message
      Response.html("Something went wrong", status: 500)
    end
  end
end
