// Writes what starts a measurement by several ranks: a batch script for Slurm, or manifests for Kubernetes. It starts nothing
// itself. Secrets of the command line are not written: the script takes them from the environment, and a pod from a Secret.

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"

	"llmsweep/report/lang"
	"llmsweep/sweep/cluster"
)

// LaunchOptions are the flags of llmsweep launch, and what a script or a manifest is made of.
type LaunchOptions struct {
	Name   string        `default:"llmsweep" placeholder:"NAME" help:"Name of the job (${default})." group:"Job"`
	Ranks  int           `default:"4" placeholder:"N" help:"Number of ranks (${default})." group:"Job"`
	CPUs   int           `name:"cpus" default:"2" placeholder:"N" help:"Processor cores for each rank (${default})." group:"Job"`
	Memory string        `default:"2G" placeholder:"SIZE" help:"Memory for each rank: 2G, 512M (${default})." group:"Job"`
	Time   time.Duration `default:"2h" placeholder:"TIME" help:"Time limit of the job (${default})." group:"Job"`
	Output string        `short:"o" type:"path" placeholder:"FILE" help:"Write to this file." group:"Job"`
	Force  bool          `help:"Overwrite a file that llmsweep did not write, or that was changed since." group:"Job"`
	Lang   lang.Lang     `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language of the comments: en or zh. Default: zh where LANG starts with zh, else en." group:"Job"`

	Nodes     int      `placeholder:"N" positive:"" help:"Number of nodes. Default: one for each rank." group:"Slurm"`
	Partition string   `placeholder:"NAME" help:"Partition." group:"Slurm"`
	Account   string   `placeholder:"NAME" help:"Account." group:"Slurm"`
	Sbatch    []string `sep:"none" placeholder:"OPTION" help:"Another option of sbatch, such as --sbatch=--exclusive; may be repeated." group:"Slurm"`
	Program   string   `placeholder:"PATH" help:"Path of llmsweep on the nodes. Default: llmsweep, from the PATH." group:"Slurm"`

	Image     string `default:"llmsweep:latest" placeholder:"NAME" help:"Image of llmsweep (${default}); examples/cluster has a Dockerfile." group:"Kubernetes"`
	Namespace string `placeholder:"NAME" help:"Namespace. Default: that of kubectl." group:"Kubernetes"`
	Claim     string `placeholder:"NAME" help:"PersistentVolumeClaim that the run directory is written to; all pods mount it. Default: a volume of the pod, from which it is copied." group:"Kubernetes"`
	Secret    string `default:"llmsweep-keys" placeholder:"NAME" help:"Secret with the keys of the command line (${default})." group:"Kubernetes"`
	CopyImage string `name:"copy-image" default:"busybox:1.37" placeholder:"NAME" help:"Image with sh and tar, from which kubectl cp copies the run directory (${default})." group:"Kubernetes"`

	Line    launchLine `kong:"-"` // the command line of each rank
	Version string     `kong:"-"` // of llmsweep
	Token   string     `kong:"-"` // of the ranks, for Kubernetes; a script draws its own
}

var (
	// nameText matches the name of a Service (RFC 1035).
	nameText   = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	memoryText = regexp.MustCompile(`^([1-9][0-9]*)([MG])$`)
)

// longestName leaves room for a rank's number in the name of a pod's host, which has 63 characters.
const longestName = 52

// Check returns what is wrong with the options for slurm or kubernetes; nil for nothing.
func (o *LaunchOptions) Check(system string) error {
	switch {
	case system == "kubernetes" && (o.Nodes > 0 || o.Partition != "" || o.Account != "" || len(o.Sbatch) > 0 || o.Program != ""):
		return errors.New("--nodes, --partition, --account, --sbatch and --program are for slurm")
	case system == "slurm" && (o.Namespace != "" || o.Claim != ""):
		return errors.New("--namespace and --claim are for kubernetes")
	case !nameText.MatchString(o.Name) || len(o.Name) > longestName:
		return fmt.Errorf("--name %s: write lower-case letters, digits and dashes, a letter first, at most %d characters", o.Name, longestName)
	case o.Ranks < 2:
		return errors.New("--ranks must be at least 2: one rank needs no launcher")
	case o.CPUs < 1:
		return errors.New("--cpus must be at least 1")
	case !memoryText.MatchString(o.Memory):
		return fmt.Errorf("--memory %s: write whole gigabytes or megabytes, such as 2G or 512M", o.Memory)
	case o.Time < time.Minute:
		return errors.New("--time must be at least 1m")
	}
	return nil
}

var (
	//go:embed slurm.tmpl
	slurm string
	//go:embed kubernetes.tmpl
	kubernetes string
)

// Write returns the batch script for slurm, or the manifests for kubernetes. The options have passed Check.
func (o LaunchOptions) Write(system string) (string, error) {
	text := slurm
	if system == "kubernetes" {
		text = kubernetes
	}
	if o.Nodes == 0 {
		o.Nodes = o.Ranks
	}
	if o.Program == "" {
		o.Program = "llmsweep"
	}
	say := func(en, zh string, args ...any) string { return lang.Say(en, zh).In(o.Lang, args...) }
	port := func() int { return cluster.DefaultPort }
	t, err := template.New(system).Funcs(template.FuncMap{"say": say, "shell": shellWord, "yaml": yamlText, "port": port}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, &o)
	return b.String(), err
}

// PerNode returns the number of ranks on a node.
func (o *LaunchOptions) PerNode() int { return (o.Ranks + o.Nodes - 1) / o.Nodes }

// Seconds returns the time limit.
func (o *LaunchOptions) Seconds() int { return int(o.Time.Seconds()) }

// Megabytes returns the memory of a number of ranks.
func (o *LaunchOptions) Megabytes(ranks int) int {
	m := memoryText.FindStringSubmatch(o.Memory)
	n, _ := strconv.Atoi(m[1]) // Check has read it
	if m[2] == "G" {
		n *= 1024
	}
	return n * ranks
}

// Limit returns the time limit as sbatch takes it: days-hours:minutes:seconds.
func (o *LaunchOptions) Limit() string {
	const day = 24 * time.Hour
	s := fmt.Sprintf("%02d:%02d:%02d", o.Time%day/time.Hour, o.Time%time.Hour/time.Minute, o.Time%time.Minute/time.Second)
	if o.Time < day {
		return s
	}
	return fmt.Sprintf("%d-%s", o.Time/day, s)
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// unprintable reports a character that a terminal may obey.
func unprintable(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// shellWord returns a word that bash takes as the text. It has no character that a terminal obeys.
func shellWord(text string) string {
	switch {
	case plainWord.MatchString(text):
		return text
	case strings.ContainsFunc(text, unprintable):
		var b strings.Builder
		for i := range len(text) {
			if c := text[i]; c > ' ' && c < 0x7f && c != '\'' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var (
	// plainText matches what YAML takes as a text without quotes. It begins with a letter, a slash, or the dashes of a flag.
	plainText = regexp.MustCompile(`^(--)?[A-Za-z/][A-Za-z0-9_./@%+=,<$()-]*(:[A-Za-z0-9_./@%+=,<$()-]+)*$`)
	// otherType matches words that YAML takes for something else.
	otherType = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)
)

// yamlText returns a text as YAML has it, quoted where it must be. It has no character that a terminal obeys.
func yamlText(text string) string {
	if plainText.MatchString(text) && !otherType.MatchString(text) {
		return text
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\ufffd")) // the escapes of Go are escapes of YAML too
}

var (
	sayCreateSecret = lang.Say("Secrets of the command line are not in the manifest. The pods take them from a Secret; create it first: %s", "命令行中的密钥不在清单中。pod 从 Secret 中读取，请先创建：%s")
	saySetVariables = lang.Say("Secrets of the command line are not in the script. It takes them from the environment of sbatch; set first: %s", "命令行中的密钥不在脚本中。脚本从 sbatch 的环境变量读取，请先设置：%s")
	sayFileInImage  = lang.Say("%s must be in the image, at the same path.", "%s 必须以相同路径存在于镜像中。")
	sayFileOnNodes  = lang.Say("%s must be readable at the same path on all nodes.", "%s 必须在所有节点上以相同路径可读。")
	sayLocalhost    = lang.Say("localhost is each rank's own machine: name the server as the nodes reach it.", "localhost 是每个进程自己的机器：请写节点能访问的服务地址。")
)

// Notes returns what the user must know beside the script or manifest, a line each.
func (o *LaunchOptions) Notes(system string) (lines []string) {
	secrets, file := saySetVariables, sayFileOnNodes
	if system == "kubernetes" {
		secrets, file = sayCreateSecret, sayFileInImage
	}
	if len(o.Line.Secrets) > 0 {
		lines = append(lines, secrets.In(o.Lang, o.secrets(system)))
	}
	for _, f := range o.Line.files() {
		lines = append(lines, file.In(o.Lang, f))
	}
	if o.Line.local() {
		lines = append(lines, sayLocalhost.In(o.Lang))
	}
	return lines
}

// secrets returns the variables to set, or the command that makes the Secret of the manifest.
func (o *LaunchOptions) secrets(system string) string {
	var variables []string
	create := "kubectl create secret generic " + o.Secret
	if o.Namespace != "" {
		create += " --namespace " + o.Namespace
	}
	for _, s := range o.Line.Secrets {
		variables = append(variables, fmt.Sprintf("%s (%s)", s.Variable, s.From))
		create += fmt.Sprintf(" --from-literal=%s=...", s.Key())
	}
	if system == "kubernetes" {
		return create
	}
	return strings.Join(variables, ", ")
}
