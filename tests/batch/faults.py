# SPDX-License-Identifier: MIT
"""faults.py QFZ ranks|alone|tmpfs [SEED]: signals, and ranks that fail; or signals, full storage,
damaged journals, other jobs' journals; or storage that is full for a while, for which one is mounted."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from batch import (TASKS, Test, command, content, kill, kill_job, need, on_ranks, patches, ranks_of,
                   ranks_under, run, start, write_raster)

need("gdal_translate", "gdalinfo")
RANKS = on_ranks(sys.argv)
TMPFS = sys.argv[2] == "tmpfs"
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
TILE = ["--tile", "16", "-j", "1"]
RESUMABLE = 75
write_raster("src.tif", patches(test.random, 330, 270), 330, ["-a_nodata", "0"])
WORK = ["--work", "work"]


def job(task, *options, stem="out"):
    return command(test.qfz, task, "src.tif", stem, ".tif", *TILE, *options)


def clean():
    shutil.rmtree("work", ignore_errors=True)
    for name in os.listdir("."):
        if name.startswith(("out", ".out")) and not os.path.isdir(name):
            os.remove(name)


def one_line(err):
    """The launcher has words of its own."""
    return len([line for line in err.splitlines() if line.startswith("qfz ")]) == 1


def ends_well(task, what):
    words, outputs = job(task, *WORK, "--resume")
    status, _, err = run(words)
    test.check(status == 0, f"{what}: resumed: {status}: {err}")
    for path, want in zip(outputs, wanted[task]):
        test.check(os.path.exists(path) and content(path) == want, f"{what}: {path} differs")


def journal_bytes():
    total = 0
    for name in os.listdir("work") if os.path.isdir("work") else []:
        try:
            total += os.path.getsize("work/" + name) if name.endswith(".journal") else 0
        except OSError: # it was deleted meanwhile
            pass
    return total


def stopped_early(words, number, before):
    """The signal comes when the job is at work: its journals grow."""
    had = journal_bytes()
    process = subprocess.Popen([*before, *words], stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while journal_bytes() < had + 30000 and process.poll() is None:
        time.sleep(0.002)
    began = time.time()
    kill(ranks_under(process.pid) or [process.pid], number)
    _, err = process.communicate(timeout=30)
    return process.returncode, err, time.time() - began


def signals():
    subprocess.run(["gdal_translate", "-q", "-outsize", "700%", "700%", "src.tif", "big.tif"],
                   check=True)
    words, outputs = command(test.qfz, "simplify", "big.tif", "out", ".tif", "--merge", "--resume",
                             *WORK, "--tile", "64", "-j", "1")
    before = ranks_of(3) if RANKS else []
    clean()
    for number in (signal.SIGTERM, signal.SIGUSR1):
        status, err, seconds = stopped_early(words, number, before)
        test.check(status == RESUMABLE and one_line(err) and seconds < 20,
                   f"{number!r}: status {status} after {seconds:.1f} s: {err}")
    status, _, err = run([*before, *words])
    test.check(status == 0, f"resumed after signals: {err}")
    got = content(outputs[0])
    clean()
    status, _, err = run(words)
    test.check(status == 0 and content(outputs[0]) == got, f"signals: out.tif differs: {err}")


def limit_files(most_bytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    return limit


def run_limited(words, most_bytes):
    """Files of at most that many bytes; whoever writes more gets an error (not a signal)."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60,
                          restore_signals=False, preexec_fn=limit_files(most_bytes))
    return done.returncode, done.stdout, done.stderr


def full_storage():
    for task in TASKS:
        for most in (300, 30000, 150000):
            clean()
            words, outputs = job(task, *WORK)
            status, _, err = run_limited(words, most)
            test.check(status == 1 and one_line(err), f"{task}, {most} bytes: {status}: {err}")
            test.check(not os.path.exists(outputs[0]), f"{task}: an output on a full disk")
            shutil.rmtree("work", ignore_errors=True) if most == 300 else None
            ends_well(task, f"{task} after a full disk at {most} bytes")


def small_tmpfs():
    os.makedirs("small", exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", "small"],
                             capture_output=True, check=False).returncode == 0
    if not mounted:
        test.skip("no tmpfs can be mounted here")
    try:
        clean()
        words, _ = job("label", "--work", "small/work")
        status, _, err = run(words)
        test.check(status == 1 and one_line(err) and "small/work" in err, f"tmpfs: {status} {err}")
        subprocess.run(["mount", "-o", "remount,size=64m", "small"], check=True)
        status, _, err = run([*words, "--resume"])
        test.check(status == 0, f"tmpfs, resumed: {err}")
        test.check(content("out.tif") == wanted["label"][0], "tmpfs: out.tif differs")
    finally:
        subprocess.run(["umount", "small"], check=False)


def damage(path, how):
    with open(path, "rb") as whole:
        data = bytearray(whole.read())
    if len(data) < 100:
        return
    at = test.random.randrange(len(data) - 64)
    n = test.random.randrange(1, 2000)
    if how == "flipped":
        for i in range(at, min(at + n, len(data)), 37):
            data[i] ^= 1 << test.random.randrange(8)
    elif how == "missing":
        del data[at:at + n]
    elif how == "zeroed":
        data[at:at + n] = bytes(len(data[at:at + n]))
    elif how == "cut":
        del data[at:]
    else:
        data += data[at:at + n]
    with open(path, "wb") as whole:
        whole.write(data)


def damaged_journals():
    for how in ("flipped", "missing", "zeroed", "cut", "longer"):
        for task in TASKS:
            clean()
            words, _ = job(task, *WORK)
            process = start(words)
            most = test.random.randrange(600000)
            while journal_bytes() < most and process.poll() is None:
                time.sleep(0.001)
            kill_job(process, test.random)
            for name in os.listdir("work") if os.path.isdir("work") else []:
                if name.endswith(".journal"):
                    damage("work/" + name, how)
            ends_well(task, f"{task}, {how} bytes")


def stopped_work(task):
    """A folder of a run that was killed before its end."""
    clean()
    words, _ = job(task, *WORK)
    while True:
        process = start(words)
        while journal_bytes() < 20000 and process.poll() is None:
            time.sleep(0.001)
        kill_job(process, test.random)
        if os.path.exists("work/job") and not os.path.exists("work/done"):
            return
        clean()


def refused(words, word):
    status, _, err = run(words)
    test.check(status == 1 and one_line(err) and word in err, f"{word}: {status}: {err}")


def senseless():
    words, _ = job("label")
    refused([*words, "--resume"], "needs --work")
    refused([*words, "--phase", "stitch"], "needs --work")
    refused([*words, "--part", "1/2"], "belongs to a --phase")
    refused([*words, "--phase", "stitch", "--part", "1/2", *WORK], "belongs to a --phase")
    refused([*words, "--phase", "resolve", *WORK], "name it")
    for phase in (["stitch"], ["resolve", "--part", "1/4"]):
        refused([*words, "--work", "never_begun", "--phase", *phase], "summarise comes first")
        test.check(not os.path.exists("never_begun"), f"{phase[0]} too early: a folder")
    for wrong in ("0/3", "4/3", "x/3", "3", "1/"):
        status, _, err = run([*words, "--phase", "resolve", "--part", wrong, *WORK])
        test.check(status == 2 and one_line(err), f"--part {wrong}: {status}: {err}")


def other_jobs():
    stopped_work("simplify")
    words, _ = job("simplify", *WORK)
    refused(words, "resume")
    again = [*words, "--resume"]
    for old, new, word in (("3", "4", "alpha"), ("6", "7", "omega"), ("8", "4", "connectivity"),
                           ("16", "17", "tiles")):
        other = list(again)
        other[other.index(old)] = new
        refused(other, word)
    refused([*again, "--nodata", "5"], "bands")
    refused([*again, "-co", "COMPRESS=LZW"], "creation options")
    refused([*again[:-1], "--phase", "summarise", "--part", "1/2"], "begun in 1 part,")
    stat = os.stat("src.tif")
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns + 5_000_000_000))
    refused(again, "source on disk")
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with open("work/job", encoding="utf-8") as text:
        lines = text.read()
    with open("work/job", "w", encoding="utf-8") as text:
        text.write(lines.replace("version\t", "version\told ", 1))
    refused(again, "version")
    with open("work/job", "w", encoding="utf-8") as text:
        text.write(lines)
    ends_well("simplify", "after refusals")


def finished():
    """Done is a job as long as its outputs are what it left."""
    for task in TASKS:
        clean()
        words, outputs = job(task, *WORK, "--resume")
        status, _, err = run(words)
        test.check(status == 0, f"{task}: {err}")
        open("out.tif.aux.xml", "w", encoding="ascii").close()
        made = [os.stat(path).st_ino for path in outputs]
        for name in ("pixels-1-of-1.journal", "part-2-of-2.journal", "stitch.journal"):  # of a run killed after that
            open("work/" + name, "w", encoding="ascii").close()
        status, _, err = run(words)
        test.check(status == 0 and made == [os.stat(path).st_ino for path in outputs],
                   f"{task}, done: {status}: {err}")
        test.check(sorted(os.listdir("work")) == ["done", "job"], f"{task}, done: left: {os.listdir('work')}")
        for path in outputs:
            with open(path, "r+b") as other:
                other.truncate(os.path.getsize(path) // 2)
            status, _, err = run(words)
            test.check(status == 1 and "overwrite" in err, f"{task}, {path} cut: {status}: {err}")
            status, _, err = run([*words, "--overwrite"])
            test.check(status == 0, f"{task}, {path} cut, made anew: {err}")
            test.compare(outputs, wanted[task], f"{task}, {path} cut")
            os.remove(path)
            status, _, err = run([*words, "--overwrite"])
            test.check(status == 0, f"{task}, {path} removed: {err}")
            test.compare(outputs, wanted[task], f"{task}, {path} removed")


def refused_at_once():
    """A command that is refused leaves nothing that stands in the way of the right one."""
    for made in (False, True):
        clean()
        words, outputs = job("label", *WORK)
        os.makedirs("work") if made else None
        for wrong in (["-of", "NONE"], ["-co", "COMPRESS=NONE_SUCH"]):
            status, _, err = run([*words, *wrong])
            test.check(status == 1 and one_line(err), f"{wrong}: {status}: {err}")
            test.check(os.path.isdir("work") == made, f"{wrong}: the folder")
        status, _, err = run(words)
        test.check(status == 0, f"after refusals: {err}")
        test.compare(outputs, wanted["label"], "after refusals")


def two_at_a_time():
    """The first one stands still in the middle of its work, and goes on afterwards."""
    clean()
    words, outputs = job("simplify", *WORK, "--resume")
    first = start(words)
    while journal_bytes() == 0 and first.poll() is None:
        time.sleep(0.001)
    first.send_signal(signal.SIGSTOP)
    over = first.poll() is not None
    status, _, err = run(words)
    test.check(not over, "two at a time: the first was over before it was stopped")
    test.check(status == 1 and "another process" in err, f"two at a time: {status}: {err}")
    first.send_signal(signal.SIGCONT)
    test.check(first.wait(60) == 0, "two at a time: the first failed")
    test.check(content(outputs[0]) == wanted["simplify"][0], "two at a time: the output differs")


def other_resources():
    """Tiles depend on threads and memory, where --tile says nothing: who resumes takes them over."""
    words, outputs = command(test.qfz, "label", "big.tif", "out", ".tif", *WORK, "--resume")
    wholes = command(test.qfz, "label", "big.tif", "whole_big", ".tif")
    status, _, err = run(wholes[0])
    test.check(status == 0, f"whole: {err}")
    clean()
    process = start([*words, "-j", "1"])
    while journal_bytes() < 20000 and process.poll() is None:
        time.sleep(0.001)
    kill_job(process, test.random)
    status, _, err = run([*words, "-j", "4", "--memory", "200MB"])
    test.check(status == 0, f"other resources: {err}")
    for path, whole in zip(outputs, wholes[1]):
        test.check(content(path) == content(whole), f"other resources: {path} differs")


def not_repeated():
    """What is summarised is not read again: its pixels may change meanwhile, if nobody tells."""
    clean()
    words, outputs = command(test.qfz, "label", "src.tif", "out", ".vrt", *TILE)

    def phase(name, *part):
        status, _, err = run([words[0], "run", "--work", "work", "--phase", name, *part,
                              *words[1:]])
        test.check(status == 0, f"{name}: {err}")

    phase("summarise", "--part", "1/2")
    phase("summarise", "--part", "2/2")
    stat = os.stat("src.tif")
    shutil.copy("src.tif", "kept.tif")
    with open("src.tif", "r+b") as pixels:
        pixels.seek(stat.st_size // 2)
        pixels.write(bytes(10000))
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    phase("summarise", "--part", "1/2")
    phase("stitch")
    shutil.copy("kept.tif", "src.tif")
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    phase("resolve", "--part", "2/2")
    phase("resolve", "--part", "1/2")
    test.check(content(outputs[0]) == wanted["label"][0], "not repeated: differs")


def a_rank_fails():
    before = ranks_of(3)
    for where in ("work/part-2-of-3.journal", "work/pixels-3-of-3.journal"):
        clean()
        os.makedirs(where)
        words, _ = job("label", "--merge", *WORK, "--resume")
        status, _, err = run(before + words)
        test.check(status == 1 and one_line(err) and where in err, f"{where}: {status}: {err}")
        os.rmdir(where)
        status, _, err = run(before + words)
        test.check(status == 0 and content("out.tif") == wanted["label"][0], f"{where}: {err}")
    shutil.copy("src.tif", "other.tif")
    split = 'exec "$@" $([ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 0 ] && echo src || echo other).tif x.vrt'
    status, _, err = run([*before, "sh", "-c", split, "sh", test.qfz, "label", "-q"])
    test.check(status == 1 and one_line(err) and "other.tif" in err, f"two jobs: {status}: {err}")
    test.check(not os.path.exists("x.vrt"), "two jobs: an output")
    status, out, err = run([*before, test.qfz, "label", "--no-such-option"])
    test.check(status == 2 and one_line(err) and not out, f"usage on ranks: {status} {out} {err}")


def a_rank_runs_full():
    """One rank may write more and more of a journal: it fails in one step after the other, and the
    others with it.  MPI's own files must be small, too."""
    before = ["env", "OMPI_MCA_btl=tcp,self", *ranks_of(3)]
    limit = 'trap "" XFSZ; [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && ulimit -f $0; exec "$@"'
    words, outputs = job("simplify", "--merge", *WORK, "--resume")
    failed = 0
    for n in [16 * 1.4**i for i in range(8, 24)]: # blocks of 512 bytes, or of 1024
        clean()
        status, _, err = run([*before, "sh", "-c", limit, str(int(n)), *words])
        if status == 0:
            break
        failed += 1
        test.check(status == 1 and one_line(err) and "part-2-of-3" in err,
                   f"at most {int(n)} blocks: {status}: {err}")
    test.check(failed > 3 and status == 0, f"{failed} failed; at most {int(n)} blocks: {err}")
    test.compare(outputs, wanted["simplify"], "with room enough")


wanted = {}
for name in TASKS:
    line, paths = job(name, stem="whole_" + name)
    code, _, errors = run(line)
    test.check(code == 0, f"{name}: {errors}")
    wanted[name] = [content(path) for path in paths]
OF_RANKS = (signals, a_rank_fails, a_rank_runs_full)
ALONE = (signals, full_storage, damaged_journals, senseless, other_jobs, other_resources, finished,
         refused_at_once, two_at_a_time, not_repeated)
for part in OF_RANKS if RANKS else (small_tmpfs,) if TMPFS else ALONE:
    part()
test.finish()
