def price(name: str) -> str:
    return f"{name} 3.50"
