"""What ssh and its daemon are elsewhere, between the namespaces of several_hosts.sh.

remote_shell.py serve SOCKET FOLDER      runs what is asked for, in the namespaces of process FOLDER/HOST.pid
remote_shell.py SOCKET HOST COMMAND ...  runs a command there with this process's input and output
"""
import array
import json
import os
import signal
import socket
import subprocess
import sys
import threading

SPACES = ["--net", "--uts", "--mount", "--pid"]


def serve_one(connection, folder):
    """One command. It sees nothing of the caller's environment, and ends with the caller."""
    message, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * 4))
    descriptors = array.array("i", ancillary[0][2])
    host, command = json.loads(message)
    with open(f"{folder}/{host}.pid", encoding="utf-8") as file:
        pid = file.read().strip()
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root")}
    child = subprocess.Popen(["nsenter", "-t", pid, *SPACES, "--", "sh", "-c", command], env=environment,
                             stdin=descriptors[0], stdout=descriptors[1], stderr=descriptors[2], start_new_session=True)
    for descriptor in descriptors:
        os.close(descriptor)

    def end_with_caller():
        if not connection.recv(1):
            try:
                os.killpg(child.pid, signal.SIGHUP)
            except ProcessLookupError:
                pass

    threading.Thread(target=end_with_caller, daemon=True).start()
    code = child.wait()
    if os.path.exists(f"{folder}/{host}.off"):
        return  # a host without power says nothing, and ssh waits
    try:
        connection.sendall(b"%d" % (code if code >= 0 else 255))
    except OSError:
        pass
    connection.close()


def serve(path, folder):
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    kept = []  # so that no connection is closed before it is answered
    while True:
        connection, _ = listening.accept()
        kept.append(connection)
        threading.Thread(target=serve_one, args=(connection, folder), daemon=True).start()


def ask(path, host, *command):
    while host.startswith("-"):  # options of ssh
        host, *command = command
    if os.path.exists(os.path.join(os.path.dirname(path), f"{host}.off")):
        sys.exit(f"ssh: connect to host {host} port 22: No route to host")
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    descriptors = array.array("i", [0, 1, 2])
    connection.sendmsg([json.dumps([host, " ".join(command)]).encode()],
                       [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
    sys.exit(int(connection.recv(16) or b"255"))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:4])
    else:
        ask(*sys.argv[1:])
