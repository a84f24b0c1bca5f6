#include "graph_dense.h"

/* `queue` is a permutation of the samples: those of finished components, those found in this
 * one, those not found yet. Only the last are looked at, so that every pair is read once. */
int graph_dense_components(int n, const double *s, double threshold, int *label, int *queue)
{
    int found = 0, tail = 0;

    memset(label, 0, (size_t) n * sizeof(int));
    for (int i = 0; i < n; i++) queue[i] = i;
    for (int root = 0; root < n; root++) {
        int at = tail, head = tail;
        if (label[root]) continue;
        while (queue[at] != root) at++;
        queue[at] = queue[tail];
        queue[tail++] = root;
        label[root] = ++found;
        while (head < tail) {
            const double *row = s + (size_t) queue[head++] * (size_t) n;
            for (int u = tail; u < n; u++) {
                int j = queue[u];
                if (!(row[j] > threshold)) continue;
                label[j] = found;
                queue[u] = queue[tail];
                queue[tail++] = j;
            }
        }
    }
    return found;
}
