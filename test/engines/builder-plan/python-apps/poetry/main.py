import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from greet import hello
from greet_more import more


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(more(hello("poetry")).encode())


HTTPServer(("0.0.0.0", int(os.environ["PORT"])), Handler).serve_forever()
