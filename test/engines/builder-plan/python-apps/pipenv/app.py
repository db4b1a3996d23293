from bottle import Bottle

app = Bottle()


@app.get("/")
def home():
    return "from pipenv"
