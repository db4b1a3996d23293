import psycopg2
from bottle import Bottle

app = Bottle()


@app.get("/")
def home() -> str:
    return f"from psycopg2 with libpq {psycopg2.extensions.libpq_version() // 10000}"
