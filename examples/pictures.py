"""Pictures of what examples compute: 05, 07, 16, 18 and 19, as SVG files beside the programs.

    python pictures.py [FOLDER]        needs jax and trireme; FOLDER: that of this file

The systems of 05 and 07 are those of the C programs, solved from Python; 16 is 05 with fewer unknowns.
"""

import importlib
import math
import os
import sys

import numpy as np

import trireme as tr

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 64, 16, 16, 44
COLOURS = ["#14507a", "#c8651b", "#3f8f4f"]


def ticks(low, high, most=6):
    step = 10.0**math.floor(math.log10((high - low) / most))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= most)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def chart(path, lines, x_label, y_label, logarithmic=False):
    """lines: name, values of y at x = 0, 1, 2, ...; a name "" is a thin line without a legend."""
    of = math.log10 if logarithmic else float
    everything = [of(y) for _, values in lines for y in values if not logarithmic or y > 0]
    low, high = min(everything), max(everything)
    last = max(len(values) for _, values in lines) - 1
    x_of = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * x / last
    y_of = lambda y: TOP + (HEIGHT - TOP - BOTTOM) * (high - y) / (high - low)
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            f'font-size="13"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for y in ticks(low, high):
        if logarithmic and y != int(y):
            continue
        label = f'10<tspan dy="-5" font-size="9">{int(y)}</tspan>' if logarithmic else f"{y:g}"
        text.append(f'<path d="M{LEFT} {y_of(y):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                    f'<text x="{LEFT - 6}" y="{y_of(y) + 4:.1f}" text-anchor="end">{label}</text>')
    for x in ticks(0, last, 8):
        text.append(f'<text x="{x_of(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    text.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{x_label}</text>'
                f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
                f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{y_label}</text>')
    named = 0
    for name, values in lines:
        digits = 1 if name else 0
        points = " ".join(f"{x_of(x):.{digits}f},{y_of(of(y)):.{digits}f}" for x, y in enumerate(values)
                          if not logarithmic or y > 0)
        colour, width = (COLOURS[named % 3], 2) if name else ("#9db8cc", 0.7)
        text.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        if name:
            at = TOP + 16 + 18 * named
            text.append(f'<path d="M{WIDTH - RIGHT - 190} {at - 4}h24" stroke="{colour}" stroke-width="2"/>'
                        f'<text x="{WIDTH - RIGHT - 160}" y="{at}">{name}</text>')
            named += 1
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n</svg>\n")


def conjugate_gradients(A, b, precondition):
    """The residuals' norms, over that of b, until 1e-10."""
    x, r, p, before, norms = np.zeros_like(b), b.copy(), np.zeros_like(b), 1.0, [1.0]
    while norms[-1] > 1e-10 and len(norms) < 1000:
        z = precondition(r)
        rz = r @ z
        p = z + rz / before * p
        q = A @ p
        x, r, before = x + rz / (p @ q) * p, r - rz / (p @ q) * q, rz
        norms.append(np.linalg.norm(r) / np.linalg.norm(b))
    return norms


def draw_cg(path, side):
    A = tr.generate(f"gen:poisson2d5:{side}")
    b = np.random.default_rng(1).uniform(-1, 1, A.shape[0])
    F = tr.ic0(A)
    chart(path, [("conjugate gradients", conjugate_gradients(A, b, lambda r: r)),
                 ("with IC(0)", conjugate_gradients(A, b, F.solve))],
          "iterations", "residual, over that of x = 0", logarithmic=True)


def draw_relaxation(path):
    """The blocks of 07_relax.c."""
    import scipy.sparse as sp
    cells, B = 1000, 5
    k = np.arange(B)
    block = np.where(k[:, None] == k, 1.0, 0.1 / (1 + k[:, None] + k))
    line = sp.diags([-1.0, 2.2, -1.0], [-1, 0, 1], (cells, cells))
    A = sp.csr_array(sp.kron(line, block))
    b = np.sin(np.add.outer(np.arange(cells), k)).ravel()
    lines = []
    for name, direction in (("forward sweeps", "forward"), ("symmetric sweeps", "symmetric")):
        norms = tr.relaxation(A, B).sweep(np.zeros_like(b), b, 15, direction=direction, residual_every=1)
        lines.append((name, np.ravel(norms)))
    chart(path, lines, "sweeps", "residual", logarithmic=True)


def draw_newton(path):
    newton = importlib.import_module("18_jax_newton")
    rng = np.random.default_rng(1)
    s = s_old = rng.uniform(1, 2, newton.N)
    k, inflow = rng.uniform(0.5, 1, newton.N), rng.uniform(0, 1, newton.N)
    norms = []
    for _ in range(6):
        norms.append(float(np.abs(newton.residual(s, s_old, k, inflow)).max()))
        s = newton.newton_step(s, s_old, k, inflow)
    chart(path, [("largest residual", norms)], "Newton steps", "residual", logarithmic=True)


def draw_river(path):
    import jax
    river = importlib.import_module("19_jax_river")
    members = np.random.default_rng(2).uniform(0.03, 0.06, (river.MEMBERS, river.N))
    flows = np.asarray(jax.vmap(river.hydrograph)(members))
    chart(path, [("", flow) for flow in flows] + [("mean of 100 members", flows.mean(axis=0))],
          "hours", "discharge at the outlet, m³/s")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else here
    sys.path.insert(0, here)
    draw_cg(os.path.join(folder, "05_preconditioner.svg"), 100)
    draw_relaxation(os.path.join(folder, "07_relax.svg"))
    draw_cg(os.path.join(folder, "16_cg.svg"), 60)
    draw_newton(os.path.join(folder, "18_jax_newton.svg"))
    draw_river(os.path.join(folder, "19_jax_river.svg"))


if __name__ == "__main__":
    main()
