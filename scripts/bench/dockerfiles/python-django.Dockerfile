FROM python:3.13-slim AS build
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt .
RUN --mount=type=cache,id=@cache@-pip,target=/root/.cache/pip pip install -r requirements.txt

FROM python:3.13-slim
RUN useradd --uid 1000 --create-home app && install -d -o app -g app /app
WORKDIR /app
COPY --from=build /venv /venv
COPY --chown=app:app . .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER app
RUN python manage.py collectstatic --noinput
CMD ["gunicorn", "--bind", "0.0.0.0:8080", "mysite.wsgi"]
