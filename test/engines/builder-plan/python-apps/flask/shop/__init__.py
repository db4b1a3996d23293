from flask import Flask, request
from prices import price


def create_app(config: dict | None = None) -> Flask:
    app = Flask(__name__)
    app.config.update(config or {})

    @app.get("/")
    def home() -> str:
        return f"from Flask: {price('tea')} over {request.scheme}"

    return app
