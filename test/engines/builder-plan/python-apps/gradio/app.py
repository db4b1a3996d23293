import gradio as gr


def greet(name: str) -> str:
    return f"from Gradio, {name}"


demo = gr.Interface(fn=greet, inputs="text", outputs="text", title="from Gradio")

if __name__ == "__main__":
    demo.launch()
