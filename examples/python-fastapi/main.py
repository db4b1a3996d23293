import platform

from fastapi import FastAPI

app = FastAPI(title="python-fastapi")


@app.get("/")
def root() -> dict[str, str]:
    return {"hello": "from FastAPI", "python": platform.python_version()}


@app.get("/items/{item}")
def item(item: int) -> dict[str, int]:
    return {"item": item, "doubled": item * 2}
