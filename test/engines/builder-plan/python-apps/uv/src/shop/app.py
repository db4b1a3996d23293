from importlib.metadata import version

from fastapi import FastAPI

app = FastAPI()


@app.get("/")
def home() -> dict[str, str]:
    return {"hello": "from uv", "version": version("shop")}
