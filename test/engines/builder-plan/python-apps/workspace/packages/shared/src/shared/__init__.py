def greeting(name: str) -> str:
    return f"from {name}"
