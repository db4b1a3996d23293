import os

from bottle import Bottle


def main() -> None:
    web = Bottle()
    web.route("/", callback=lambda: "from a script")
    web.run(host="0.0.0.0", port=int(os.environ["PORT"]))
