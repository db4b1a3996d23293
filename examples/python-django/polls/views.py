from django.shortcuts import render
from django.views.decorators.http import require_POST


def index(request):
    return render(request, 'polls/index.html', {'hello': 'from Django'})


@require_POST
def greet(request):
    return render(request, 'polls/index.html', {'hello': request.POST.get('name', '')})
