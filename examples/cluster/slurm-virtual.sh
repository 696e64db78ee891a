#!/usr/bin/env bash
# Starts a real Slurm on this machine, with virtual nodes, to try llmsweep under srun. For Debian and Ubuntu; run it as root.
#
#   slurm-virtual.sh start [NODES]   installs Slurm where it is missing, starts a controller and nodes (4), and waits until they are idle
#   slurm-virtual.sh stop            stops what start started
#
# The directory of its state is SLURM_VIRTUAL, by default /tmp/slurm-virtual.
set -euo pipefail
state=${SLURM_VIRTUAL:-/tmp/slurm-virtual}

install_slurm() {
	local missing=() package
	for package in slurmctld slurmd slurm-client munge; do
		dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# munge proves to the daemons who calls them.
start_munge() {
	mkdir -p /run/munge /var/log/munge
	chown munge:munge /run/munge /var/log/munge
	if [ ! -s /etc/munge/munge.key ]; then
		dd if=/dev/urandom of=/etc/munge/munge.key bs=1 count=1024 status=none
	fi
	chown munge:munge /etc/munge/munge.key
	chmod 400 /etc/munge/munge.key
	munge -n 2>/dev/null | unmunge >/dev/null 2>&1 || su -s /bin/sh munge -c '/usr/sbin/munged --force'
}

# All nodes are this machine. Nothing is confined: a container often has no cgroups of its own.
configure() {
	local nodes=$1 host
	host=$(hostname)
	mkdir -p "$state/ctld" "$state/log" /etc/slurm
	cat >/etc/slurm/slurm.conf <<CONF
ClusterName=virtual
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/spool.%n
SlurmctldPidFile=$state/ctld.pid
SlurmdPidFile=$state/%n.pid
SlurmctldLogFile=$state/log/ctld.log
SlurmdLogFile=$state/log/%n.log
SlurmdParameters=config_overrides
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-$((17000 + nodes))] Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 CPUs=2 RealMemory=500
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

start() {
	local nodes=${1:-4} i
	install_slurm
	ulimit -n 4096 # the daemons close every descriptor that they may have, one by one
	start_munge
	configure "$nodes"
	slurmctld
	for i in $(seq "$nodes"); do
		mkdir -p "$state/spool.n$i"
		slurmd -N "n$i"
	done
	for _ in $(seq 60); do
		if [ "$(sinfo -h -t idle -N 2>/dev/null | wc -l)" -eq "$nodes" ]; then
			sinfo
			return
		fi
		sleep 1
	done
	sinfo || true
	tail -n 5 "$state"/log/*.log >&2
	return 1
}

stop() {
	local file
	for file in "$state"/*.pid; do
		[ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null || true
	done
}

case ${1:-} in
start) start "${2:-4}" ;;
stop) stop ;;
*) sed -n '2,7p' "$0" && exit 2 ;;
esac
