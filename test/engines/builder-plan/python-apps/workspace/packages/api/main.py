from bottle import Bottle
from shared import greeting

app = Bottle()


@app.get("/")
def home() -> str:
    return greeting("a workspace")
