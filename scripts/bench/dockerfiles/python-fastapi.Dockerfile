FROM python:3.13-slim AS build
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt .
RUN --mount=type=cache,id=@cache@-pip,target=/root/.cache/pip pip install -r requirements.txt

FROM python:3.13-slim
RUN useradd --uid 1000 --create-home app
WORKDIR /app
COPY --from=build /venv /venv
COPY --chown=app:app . .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER app
CMD ["uvicorn", "main:app", "--host", "0.0.0.0", "--port", "8080"]
