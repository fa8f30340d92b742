# examples/ct/sirt.df: a loop with 'while' in the size of an application, beside the same iteration in NumPy; the same bits wherever it runs.
formulas_for none
check compile "$DFC" "$DF_SOURCE/examples/ct/sirt.df" -o sirt --nvcc=none -D n=32 -D views=20
./sirt --workers=1 --output=want.npy --tol=0.02 >want
grep -Eq '^[0-9]+ rounds, 0\.0(19|20?)' want && pass ends || fail ends "$(cat want)"
for set in '--workers=3' '--device=emu --policy=all-gpu' '--policy=dmda --device=emu --workers=2'; do
    # shellcheck disable=SC2086
    ./sirt $set --output=got.npy --tol=0.02 >got 2>err
    same "$set" got want
    same "$set, slice" got.npy want.npy
done
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip numpy 'no numpy'; exit 0; }
./sirt --workers=2 --most=25 --tol=0 --output=got.npy --truth=truth.npy >got
cat >oracle.py <<'END'
import numpy as np

def corners(x, row, col):
    n = x.shape[0]
    i, j = np.floor(row).astype(int), np.floor(col).astype(int)
    v, u = row - i, col - j
    at = lambda i, j: np.where((i >= 0) & (i < n) & (j >= 0) & (j < n), x[i.clip(0, n - 1), j.clip(0, n - 1)], 0)
    return (1 - v) * ((1 - u) * at(i, j) + u * at(i, j + 1)) + v * ((1 - u) * at(i + 1, j) + u * at(i + 1, j + 1))

def project(x, views):
    n = len(x)
    middle, (s, t) = (n - 1) / 2, np.mgrid[0:n, 0:n]
    def one(a):
        return corners(x, middle + (s - middle) * np.sin(a) + (t - middle) * np.cos(a), middle + (s - middle) * np.cos(a) - (t - middle) * np.sin(a)).sum(1)
    return np.array([one(np.pi * a / views) for a in range(views)])

def back(p):
    views, n = p.shape
    middle, (i, j), sum = (n - 1) / 2, np.mgrid[0:n, 0:n], np.zeros((n, n))
    at = lambda row, k: np.where((k >= 0) & (k < n), row[k.clip(0, n - 1)], 0)
    for a in range(views):
        place = middle + (j - middle) * np.cos(np.pi * a / views) + (i - middle) * np.sin(np.pi * a / views)
        k = np.floor(place).astype(int)
        sum += (1 - (place - k)) * at(p[a], k) + (place - k) * at(p[a], k + 1)
    return sum

over = lambda x: np.where(x > 0.001, 1 / np.where(x > 0.001, x, 1), 0)
truth = np.load("truth.npy").astype(float)
n, views = len(truth), 20
b, x = project(truth, views), np.zeros((n, n))
r, c = over(project(np.ones((n, n)), views)), over(back(np.ones((views, n))))
for k in range(25):
    left = b - project(x, views)
    x = np.maximum(0, x + c * back(r * left))
rest = np.linalg.norm(left) / np.linalg.norm(b)
said = open("got").read().split()
worst = np.abs(x - np.load("got.npy")).max()
print("as NumPy" if worst < 1e-3 and said[0] == "25" and abs(float(said[2]) - rest) < 0.01 * rest else f"{worst} {said} {rest}")
END
/usr/bin/python3 oracle.py >answer 2>&1
echo 'as NumPy' >want
same numpy answer want
