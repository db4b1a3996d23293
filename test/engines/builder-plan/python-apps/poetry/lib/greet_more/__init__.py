def more(text: str) -> str:
    return f"{text}, and more"
