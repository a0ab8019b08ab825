/* SPDX-License-Identifier: MIT */
/* completion.c - qfz completion: a script for the shell that completes commands, options and the
 * choices of options.
 *
 * The script is derived from the commands and the table of options.  Values without choices are
 * completed as names of files. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "log.h"
#include "options.h"

static void print_commands(void)
{
    for (int i = 0; i < n_commands; i++)
        printf("%s%s", i ? " " : "", command_word(commands[i]));
}

static void print_choices(const char *argument)
{
    for (; *argument; argument++)
        putchar(*argument == '|' ? ' ' : *argument);
}

/* case OPTION in ... with the choices of each option. */
static void print_values(void)
{
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & ~(unsigned)FOR_BENCH) || !o->argument) continue;
        printf("        %s%s%s)", o->name, o->alias ? " | " : "", o->alias ? o->alias : "");
        if (strchr(o->argument, '|')) {
            printf(" words='");
            print_choices(o->argument);
            printf("' ;;\n");
        } else {
            printf(" return ;;\n");
        }
    }
}

static void print_options(const command *c)
{
    printf("            %s) words='", command_word(c));
    const char *space = "";
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        printf("%s%s", space, o->name);
        if (o->alias) printf(" %s", o->alias);
        space = " ";
    }
    printf("' ;;\n");
}

static void print_bash(void)
{
    printf("# Completion of qfz for bash; printed by: qfz completion bash\n"
           "_qfz()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local command='' words='' i\n"
           "    # bash splits --option=value into three words.\n"
           "    if [[ $word == = ]]; then\n        word=''\n"
           "    elif [[ $option == = ]]; then\n        option=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n");
    for (int i = 0; i < n_commands; i++)
        printf("%s%s", i ? " | " : "            ", command_word(commands[i]));
    /* `qfz run` is followed by the task, whose options are those to complete. */
    printf(")\n                command=${COMP_WORDS[i]}\n"
           "                [[ $command == run ]] || break ;;\n"
           "        esac\n    done\n"
           "    COMPREPLY=()\n"
           "    case $option in\n");
    print_values();
    printf("    esac\n"
           "    if [[ -z $words && $word == -* ]]; then\n"
           "        case $command in\n"
           "            '') words='-h --help --version' ;;\n");
    for (int i = 0; i < n_commands; i++)
        print_options(commands[i]);
    printf("        esac\n    elif [[ -z $words ]]; then\n"
           "        case $command in\n"
           "            '' | help) words='");
    print_commands();
    printf("' ;;\n            run) words='label simplify saliency cut curve' ;;\n"
           "            completion) words='bash' ;;\n"
           "        esac\n    fi\n"
           "    if [[ -n $words ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "    fi\n}\n"
           "complete -o default -F _qfz qfz\n");
}

static int run(request *r)
{
    if (strcmp(r->operands[0], "bash") != 0) {
        complain(r->command, "%s: no completion for this shell; bash is supported", r->operands[0]);
        return EXIT_USAGE;
    }
    print_bash();
    return EXIT_OK;
}

const command completion_command = {
    .name = "qfz completion",
    .page = "qfz-completion",
    .bit = FOR_COMPLETION,
    .operands = "SHELL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "a script that completes commands and options in the shell",
    .description =
        "Prints a script that completes the commands and options of qfz in SHELL. SHELL "
        "is bash. An installed qfz has this script in share/bash-completion/completions.",
    .example = "source <(qfz completion bash)",
    .run = run,
};
