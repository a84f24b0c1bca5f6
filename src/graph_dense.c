#include "graph_dense.h"

int graph_dense_components(int n, const double *s, double threshold, int *label, int *queue)
{
    int found = 0;
    memset(label, 0, (size_t) n * sizeof(int));
    for (int root = 0; root < n; root++) {
        if (label[root]) continue;
        int head = 0, tail = 0;
        label[root] = ++found;
        queue[tail++] = root;
        while (head < tail) {
            const double *row = s + (size_t) queue[head++] * (size_t) n;
            for (int j = 0; j < n; j++)
                if (row[j] > threshold && !label[j]) {
                    label[j] = found;
                    queue[tail++] = j;
                }
        }
    }
    return found;
}
